// Reads what callgrind writes: one file for each dump and thread, with the instructions that each function itself
// executed. Format: https://valgrind.org/docs/manual/cl-format.html (names are written once and then by number).

// {thread, part, instructions, functions: Map name -> instructions of its own}
export function parseCallgrind(text) {
  const names = new Map();
  const objects = new Map();
  const functions = new Map();
  let current = '';
  let object = '';
  let isCall = false;
  const header = {};
  for (const line of text.split('\n')) {
    if (/^[+\-*0-9]/.test(line)) {
      // Behind `calls=` stands what the callee cost, which is counted where the callee is.
      if (!isCall) functions.set(current, (functions.get(current) ?? 0) + Number(line.split(' ')[1]));
      isCall = false;
    } else if (line.startsWith('fn=')) {
      current = nameOf(line.slice(3), names);
      // Libraries without symbols have only addresses to tell.
      if (current.startsWith('0x')) current += ` in ${object.replace(/^.*\//, '')}`;
    } else if (line.startsWith('ob=')) {
      object = nameOf(line.slice(3), objects);
    } else if (line.startsWith('cob=')) {
      nameOf(line.slice(4), objects);
    } else if (line.startsWith('cfn=')) {
      nameOf(line.slice(4), names);
    } else if (line.startsWith('calls=')) {
      isCall = true;
    } else {
      const match = line.match(/^(thread|part|summary): (\d+)/);
      if (match) header[match[1]] = Number(match[2]);
    }
  }
  return { thread: header.thread, part: header.part, instructions: header.summary ?? 0, functions };
}

function nameOf(text, names) {
  const match = text.match(/^\((\d+)\)(?: (.*))?$/);
  if (!match) return text;
  if (match[2] !== undefined) names.set(match[1], match[2]);
  return names.get(match[1]) ?? '?';
}

// Which dumps of one moment are of which of the gateway's threads, by who does most of what only that one should do:
// {data, writer}, undefined where nobody does it.
export function byRole(dumps) {
  const most = (mark) => {
    const counted = dumps.map((dump) => ({ dump, own: sumWhere(dump.functions, (name) => name.startsWith(mark)) }));
    return counted.filter(({ own }) => own > 0).sort((x, y) => y.own - x.own)[0]?.dump;
  };
  return { data: most('weir::gateway::'), writer: most('sqlite3') };
}

function sumWhere(functions, matches) {
  let sum = 0;
  for (const [name, instructions] of functions) if (matches(name)) sum += instructions;
  return sum;
}

const groups = [
  ['memory', /^(_int_(malloc|free|realloc)|malloc|free|calloc|realloc|cfree|malloc_consolidate|unlink_chunk|operator (new|delete)|sysmalloc|tcache)/],
  ['bytes and text (libc)', /^(__)?(mem|str|wmem)[a-z]+(_|$)/],
  ['std::string and streams', /^(void |char )?std::/],
  ['simdjson', /simdjson::/],
  ['fmt', /fmt::/],
  ['SQLite', /^sqlite3/],
];

// The part of the program that a function belongs to: a module of ours, a library, or what the processor calls it.
export function groupOf(name) {
  const own = name.match(/^(?:[a-zA-Z_ ]+ )?weir::([a-z_]+)::/);
  if (own) return `weir::${own[1]}`;
  // Valgrind 3.19 cannot spell out names with concepts in them.
  const mangled = name.match(/^_ZN4weir(\d+)(\w+)/);
  if (mangled) return `weir::${mangled[2].slice(0, Number(mangled[1]))}`;
  const library = name.match(/ in (\S+?)\.so/);
  if (library) return library[1];
  return groups.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';
}

// rows of perUnit, summed by group, the largest first.
export function grouped(rows) {
  const sums = new Map();
  for (const { name, cost } of rows) sums.set(groupOf(name), (sums.get(groupOf(name)) ?? 0) + cost);
  return [...sums].map(([name, cost]) => ({ name, cost })).sort((a, b) => b.cost - a.cost);
}

// The functions of `more` minus those of `less`, each divided by `count`; the largest first.
export function perUnit(more, less, count) {
  const names = new Set([...more.keys(), ...less.keys()]);
  return [...names]
    .map((name) => ({ name, cost: ((more.get(name) ?? 0) - (less.get(name) ?? 0)) / count }))
    .sort((a, b) => b.cost - a.cost);
}

// A function's name without what every C++ name drags along.
export function shortName(name) {
  return name
    .replace(/\[abi:cxx11\]/g, '')
    .replace(/std::(?:__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>/g, 'std::string')
    .replace(/std::basic_string_view<char, std::char_traits<char> ?>/g, 'std::string_view')
    .replace(/, 18446744073709551615ul>/g, '>')
    .replace(/\(anonymous namespace\)::/g, '')
    .replace(/ \[clone \.resume\]('\d+)?/g, ' resumed')
    .replace(/ \[clone \.llvm\.\d+\]/g, '');
}
