import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRole, grouped, groupOf, parseCallgrind, perUnit, shortName } from './callgrind.mjs';

const dump = `# callgrind format
version: 1
part: 2
thread: 3

positions: line
events: Ir
summary: 1234


ob=(1) /usr/lib/libc.so.6
fl=(2) ???
fn=(10) memcpy
0 100
+3 20

fn=(11) weir::gateway::Request::run(weir::io::Task<void>)
0 7
cfn=(10)
calls=4 0
0 9999
* 3
cob=(4) somewhere
cfn=(12) sqlite3_step
calls=1 0
0 5555

fn=(12)
0 50

ob=(4)
fn=(13) 0x000000000029c680
0 4
`;

test('a function counts its own instructions, not those of what it calls', () => {
  const parsed = parseCallgrind(dump);
  assert.equal(parsed.thread, 3);
  assert.equal(parsed.part, 2);
  assert.equal(parsed.instructions, 1234);
  assert.deepEqual([...parsed.functions], [['memcpy', 120], ['weir::gateway::Request::run(weir::io::Task<void>)', 10], ['sqlite3_step', 50], ['0x000000000029c680 in somewhere', 4]]);
});

test('a thread is known by what it does most of', () => {
  const dump = (thread, functions) => ({ thread, functions: new Map(Object.entries(functions)) });
  const main = dump(1, { memcpy: 9000, 'weir::gateway::make_snapshot()': 10, sqlite3_open: 5 });
  const data = dump(2, { 'weir::gateway::Request::run()': 500, 'weir::ledger::Ledger::submit()': 3 });
  const writer = dump(3, { sqlite3VdbeExec: 700, memcpy: 1 });
  assert.deepEqual(byRole([main, data, writer]), { data, writer });
  assert.deepEqual(byRole([dump(1, { memcpy: 1 })]), { data: undefined, writer: undefined });
});

test('functions are grouped by the part they belong to', () => {
  for (const [name, group] of [
    ['weir::http::(anonymous namespace)::check_fields(std::basic_string_view<char>)', 'weir::http'],
    ['bool weir::io::ready<int>()', 'weir::io'], ['_ZN4weir4base11TextBuilder10add_numberITkSt17unsigned_integralmEEvT_', 'weir::base'],
    ['_int_malloc', 'memory'], ['operator new(unsigned long)', 'memory'], ['__memcpy_avx_unaligned', 'bytes and text (libc)'],
    ['std::__cxx11::basic_string<char>::_M_replace(unsigned long)', 'std::string and streams'],
    ['simdjson::haswell::stage1(unsigned char const*)', 'simdjson'], ['void fmt::v9::detail::vformat_to<char>()', 'fmt'],
    ['0x00000000000f2670 in libsqlite3.so.0.8.6', 'libsqlite3'], ['sqlite3_step', 'SQLite'], ['clock_gettime', 'other'],
  ]) assert.equal(groupOf(name), group, name);
  const rows = [{ name: 'malloc', cost: 5 }, { name: 'weir::io::f()', cost: 9 }, { name: 'free', cost: 6 }];
  assert.deepEqual(grouped(rows), [{ name: 'memory', cost: 11 }, { name: 'weir::io', cost: 9 }]);
});

test('what each unit costs is a difference', () => {
  const rows = perUnit(new Map([['a', 110], ['b', 1000], ['c', 5]]), new Map([['a', 10], ['b', 500], ['d', 5]]), 10);
  assert.deepEqual(rows, [{ name: 'b', cost: 50 }, { name: 'a', cost: 10 }, { name: 'c', cost: 0.5 }, { name: 'd', cost: -0.5 }]);
});

test('names are shortened to what tells them apart', () => {
  for (const [name, short] of [
    ['memcpy', 'memcpy'],
    ['weir::a::(anonymous namespace)::f(std::basic_string_view<char, std::char_traits<char> >)', 'weir::a::f(std::string_view)'],
    ['std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_replace(unsigned long)', 'std::string::_M_replace(unsigned long)'],
    ["weir::A::pump(int) [clone .resume]'2", 'weir::A::pump(int) resumed'],
    ['weir::A::f() [clone .llvm.7980292687281111540]', 'weir::A::f()'],
    ['weir::g[abi:cxx11](std::span<iovec, 18446744073709551615ul>)', 'weir::g(std::span<iovec>)'],
  ]) assert.equal(shortName(name), short);
});
