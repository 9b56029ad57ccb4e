import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCallgrind, perUnit, roleOf, shortName } from './callgrind.mjs';

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

test('a thread is known by what only it does', () => {
  assert.equal(roleOf(new Map([['sqlite3_step', 1], ['weir::gateway::Request::run()', 1]])), 'data');
  assert.equal(roleOf(new Map([['memcpy', 1], ['sqlite3VdbeExec', 1]])), 'writer');
  assert.equal(roleOf(new Map([['memcpy', 1], ['weir::control::Prober', 1]])), undefined);
});

test('what each unit costs is a difference', () => {
  const rows = perUnit(new Map([['a', 110], ['b', 1000], ['c', 5]]), new Map([['a', 10], ['b', 500], ['d', 5]]), 10);
  assert.deepEqual(rows, [{ name: 'b', instructions: 50 }, { name: 'a', instructions: 10 }, { name: 'c', instructions: 0.5 }, { name: 'd', instructions: -0.5 }]);
});

test('names are shortened to what tells them apart', () => {
  for (const [name, short] of [
    ['memcpy', 'memcpy'],
    ['weir::a::(anonymous namespace)::f(std::basic_string_view<char, std::char_traits<char> >)', 'weir::a::f(std::string_view)'],
    ['std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_replace(unsigned long)', 'std::string::_M_replace(unsigned long)'],
    ["weir::A::pump(int) [clone .resume]'2", 'weir::A::pump(int) resumed'],
    ['weir::g[abi:cxx11](std::span<iovec, 18446744073709551615ul>)', 'weir::g(std::span<iovec>)'],
  ]) assert.equal(shortName(name), short);
});
