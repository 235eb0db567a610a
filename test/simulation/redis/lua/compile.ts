// Translates Lua 5.1 to JavaScript, so that the scripts of the gateway run as they are written, fast and without a server. It knows the
// part of the language that they use, and throws at any other. The comparison of the model with a real server covers it.

import { type Token, tokensOf } from './lexer.ts';
import type { LuaResult, LuaTable } from './values.ts';
import * as operations from './values.ts';

/** The globals of a script, such as `string`: JavaScript objects of functions. */
export type LuaLibrary = Readonly<Record<string, unknown>>;

export type CompiledScript = (library: LuaLibrary, keys: LuaTable, args: LuaTable) => LuaResult;

/** An expression as JavaScript. */
interface Expression {
  readonly code: string;
  /** `results`: a call, which may have any number of results. */
  readonly kind: 'any' | 'boolean' | 'number' | 'string' | 'results';
  /** The name, of an expression that is only the name of a global. */
  readonly global?: string;
  /** How to assign to it; absent: it is no variable and no member. */
  readonly assign?: (value: string) => string;
  /** Of a member: its table and its name. */
  readonly member?: readonly [table: string, name: string];
}

type Scope = Map<string, string>;

const BINARY: Readonly<Record<string, readonly [left: number, right: number]>> = {
  or: [1, 1],
  and: [2, 2],
  '<': [3, 3],
  '>': [3, 3],
  '<=': [3, 3],
  '>=': [3, 3],
  '~=': [3, 3],
  '==': [3, 3],
  '..': [5, 4],
  '+': [6, 6],
  '-': [6, 6],
  '*': [7, 7],
  '/': [7, 7],
  '%': [7, 7],
  '^': [10, 9],
};
const UNARY_POWER = 8;

export function compile(source: string): CompiledScript {
  const body = createParser(tokensOf(source)).script();
  const names = Object.keys(operations);
  const make = new Function('$operations', `const { ${names.join(', ')} } = $operations;\n${body}`);
  return make(operations);
}

function createParser(tokens: readonly Token[]) {
  let at = 0;
  let count = 0;
  const scopes: Scope[] = [new Map()];
  /** Variables for intermediate values of the function that is being read. */
  let temporaries: string[] = [];

  const peek = () => tokens[at] as Token;
  const isNext = (text: string) => peek().text === text && (peek().kind === 'symbol' || peek().kind === 'keyword');

  function fail(what: string): never {
    throw new Error(`Lua line ${peek().line}: ${what} at "${peek().text}"`);
  }

  function take(): Token {
    at += 1;
    return tokens[at - 1] as Token;
  }

  function accept(text: string): boolean {
    if (!isNext(text)) return false;
    at += 1;
    return true;
  }

  function expect(text: string): void {
    if (!accept(text)) fail(`expected ${text}`);
  }

  function name(): string {
    if (peek().kind !== 'name') fail('expected a name');
    return take().text;
  }

  function unique(hint: string): string {
    count += 1;
    return `${hint}$${count}`;
  }

  function temporary(): string {
    const made = unique('$t');
    temporaries.push(made);
    return made;
  }

  function declare(text: string): string {
    const made = unique(text);
    scopes.at(-1)?.set(text, made);
    return made;
  }

  function scoped<T>(read: () => T): T {
    scopes.push(new Map());
    const result = read();
    scopes.pop();
    return result;
  }

  function script(): string {
    const code = functionBody(['KEYS', 'ARGV'], () => blockUntil(['']));
    return `return function ($library, ${code.parameters}) {${code.body}};`;
  }

  function functionBody(parameters: readonly string[], read: () => string) {
    const outer = temporaries;
    temporaries = [];
    return scoped(() => {
      const declared = parameters.map(declare);
      const body = read();
      const variables = temporaries.length > 0 ? `let ${temporaries.join(', ')};` : '';
      temporaries = outer;
      return { parameters: declared.join(', '), body: `${variables}\n${body}` };
    });
  }

  function blockUntil(ends: readonly string[]): string {
    const statements: string[] = [];
    while (!ends.includes(peek().text) || (peek().kind !== 'keyword' && peek().kind !== 'end')) {
      if (peek().kind === 'end') fail('unexpected end');
      statements.push(statement());
      accept(';');
    }
    return statements.join('\n');
  }

  function block(): string {
    return scoped(() => blockUntil(['end', 'else', 'elseif', 'until']));
  }

  function statement(): string {
    if (accept('local')) return accept('function') ? localFunction() : local();
    if (accept('if')) return ifStatement();
    if (accept('while')) {
      const test = condition(expression());
      expect('do');
      return closed(`while (${test}) {${block()}}`);
    }
    if (accept('repeat')) return repeat();
    if (accept('for')) return forStatement();
    if (accept('do')) return closed(`{${block()}}`);
    if (accept('break')) return 'break;';
    if (accept('return')) return returnStatement();
    return callOrAssignment();
  }

  function closed(code: string): string {
    expect('end');
    return code;
  }

  function localFunction(): string {
    const declared = declare(name());
    return `const ${declared} = ${functionValue()};`;
  }

  function functionValue(): string {
    expect('(');
    const parameters: string[] = [];
    while (!isNext(')')) {
      parameters.push(name());
      if (!accept(',')) break;
    }
    expect(')');
    const { parameters: declared, body } = functionBody(parameters, block);
    expect('end');
    return `(function (${declared}) {${body}})`;
  }

  function local(): string {
    const names = [name()];
    while (accept(',')) names.push(name());
    const values = accept('=') ? expressions() : [];
    const given = listOf(values, names.length);
    const declared = names.map(declare);
    return `${given.before}let ${declared.map((one, index) => `${one} = ${given.values[index]}`).join(', ')};`;
  }

  /** Expressions as exactly so many values. */
  function listOf(values: readonly Expression[], wanted: number): { before: string; values: readonly string[] } {
    const last = values.at(-1);
    if (last?.kind === 'results' && values.length <= wanted && wanted > 1) {
      const several = temporary();
      const single = values.slice(0, -1).map(one);
      const spread = Array.from({ length: wanted - single.length }, (_, index) => `${several}[${index}]`);
      if (single.length === 0) return { before: `${several} = all(${last.code});`, values: spread };
      const held = single.map((code) => ({ code, name: temporary() }));
      const before = held.map((each) => `${each.name} = ${each.code};`).join('');
      return {
        before: `${before}${several} = all(${last.code});`,
        values: [...held.map((each) => each.name), ...spread],
      };
    }
    const codes = values.map(one);
    return { before: '', values: Array.from({ length: wanted }, (_, index) => codes[index] ?? 'undefined') };
  }

  function ifStatement(): string {
    let code = `if (${condition(expression())}) `;
    expect('then');
    code += `{${block()}}`;
    if (accept('elseif')) return `${code} else ${ifStatement()}`;
    if (accept('else')) code += ` else {${block()}}`;
    return closed(code);
  }

  /** The condition sees the variables of the body. */
  function repeat(): string {
    return scoped(() => {
      const body = blockUntil(['until']);
      expect('until');
      return `for (;;) {${body}\nif (${condition(expression())}) break;}`;
    });
  }

  function forStatement(): string {
    const names = [name()];
    if (accept('=')) return numericFor(names[0] as string);
    while (accept(',')) names.push(name());
    expect('in');
    return genericFor(names);
  }

  function numericFor(variable: string): string {
    const values = expressions().map(number);
    expect('do');
    const [index, end, step] = [unique('$i'), unique('$e'), unique('$s')];
    const [from, to, by = '1'] = values;
    return scoped(() => {
      const declared = declare(variable);
      const head = `let ${index} = ${from}, ${end} = ${to}, ${step} = ${by}; ${step} > 0 ? ${index} <= ${end} : ${index} >= ${end}; ${index} += ${step}`;
      return closed(`for (${head}) { let ${declared} = ${index};\n${block()}}`);
    });
  }

  function genericFor(names: readonly string[]): string {
    const values = expressions();
    expect('do');
    const { before, values: triple } = listOf(values, 3);
    const [next, state, control, results] = [unique('$f'), unique('$s'), unique('$c'), unique('$r')];
    return scoped(() => {
      const declared = names.map(declare);
      const variables = declared.map((one, index) => `${one} = ${results}[${index}]`).join(', ');
      const body = block();
      expect('end');
      return `{${before} let ${next} = ${triple[0]}, ${state} = ${triple[1]}, ${control} = ${triple[2]};
for (;;) { const ${results} = all(call(${next}, ${state}, ${control})); let ${variables};
if (${declared[0]} === undefined) break; ${control} = ${declared[0]};\n${body}}}`;
    });
  }

  function returnStatement(): string {
    const ends = ['end', 'else', 'elseif', 'until', ''];
    if ((ends.includes(peek().text) && peek().kind !== 'string') || isNext(';')) return 'return;';
    const values = expressions();
    if (values.length === 1) return `return ${(values[0] as Expression).code};`;
    return `return [${spread(values)}];`;
  }

  function callOrAssignment(): string {
    const target = suffixed();
    if (target.kind === 'results') return `${target.code};`;
    const targets = [target];
    while (accept(',')) targets.push(suffixed());
    expect('=');
    const { before, values } = listOf(expressions(), targets.length);
    if (targets.length === 1) return `${before}${assigned(target, values[0] as string)}`;
    const held = values.map((code) => ({ code, name: temporary() }));
    const reads = held.map((each) => `${each.name} = ${each.code};`).join('');
    const places = targets.map(heldMember);
    const assignments = places.map(({ target }, index) => assigned(target, held[index]?.name as string));
    return before + reads + places.map((place) => place.reads).join('') + assignments.join('');
  }

  /** All names of members are computed before the first assignment. */
  function heldMember(target: Expression): { readonly reads: string; readonly target: Expression } {
    if (target.member === undefined) return { reads: '', target };
    const [table, name] = [temporary(), temporary()];
    const reads = `${table} = ${target.member[0]};${name} = ${target.member[1]};`;
    return { reads, target: { ...target, assign: (value) => `set(${table}, ${name}, ${value})` } };
  }

  function assigned({ assign, global }: Expression, value: string): string {
    if (assign === undefined) throw new Error(`Script attempted to write to the global variable ${global}`);
    return `${assign(value)};`;
  }

  function expressions(): Expression[] {
    const values = [expression()];
    while (accept(',')) values.push(expression());
    return values;
  }

  function expression(limit = 0): Expression {
    let left = unary();
    for (;;) {
      const operator = peek().kind === 'string' ? '' : peek().text;
      const power = BINARY[operator];
      if (power === undefined || power[0] <= limit) return left;
      at += 1;
      left = binary(operator, left, expression(power[1]));
    }
  }

  function unary(): Expression {
    if (accept('not')) return { code: `!${condition(expression(UNARY_POWER))}`, kind: 'boolean' };
    if (accept('-')) return { code: `(-${number(expression(UNARY_POWER))})`, kind: 'number' };
    if (accept('#')) return { code: `length(${one(expression(UNARY_POWER))})`, kind: 'number' };
    return simple();
  }

  function binary(operator: string, left: Expression, right: Expression): Expression {
    switch (operator) {
      case 'and':
      case 'or':
        return logical(operator, left, right);
      case '==':
        return { code: `(${one(left)} === ${one(right)})`, kind: 'boolean' };
      case '~=':
        return { code: `(${one(left)} !== ${one(right)})`, kind: 'boolean' };
      case '<':
      case '>':
      case '<=':
      case '>=':
        return compared(operator, left, right);
      case '..':
        return { code: `concat(${one(left)}, ${one(right)})`, kind: 'string' };
      case '%':
        return { code: `modulo(${number(left)}, ${number(right)})`, kind: 'number' };
      case '^':
        return { code: `(${number(left)} ** ${number(right)})`, kind: 'number' };
      default:
        return { code: `(${number(left)} ${operator} ${number(right)})`, kind: 'number' };
    }
  }

  function logical(operator: 'and' | 'or', left: Expression, right: Expression): Expression {
    const isAnd = operator === 'and';
    if (left.kind === 'boolean' && right.kind === 'boolean')
      return { code: `(${left.code} ${isAnd ? '&&' : '||'} ${right.code})`, kind: 'boolean' };
    const held = temporary();
    const test = `isTrue(${held} = ${one(left)})`;
    return { code: isAnd ? `(${test} ? ${one(right)} : ${held})` : `(${test} ? ${held} : ${one(right)})`, kind: 'any' };
  }

  function compared(operator: string, left: Expression, right: Expression): Expression {
    if (left.kind === 'number' && right.kind === 'number')
      return { code: `(${left.code} ${operator} ${right.code})`, kind: 'boolean' };
    const [first, second] = operator.startsWith('<') ? [left, right] : [right, left];
    const test = operator.endsWith('=') ? 'lessOrEqual' : 'less';
    return { code: `${test}(${one(first)}, ${one(second)})`, kind: 'boolean' };
  }

  function simple(): Expression {
    const { kind, text } = peek();
    if (kind === 'number') return { code: String(Number(take().text)), kind: 'number' };
    if (kind === 'string') return { code: JSON.stringify(take().text), kind: 'string' };
    if (accept('nil')) return { code: 'undefined', kind: 'any' };
    if (text === 'true' || text === 'false') return { code: take().text, kind: 'boolean' };
    if (isNext('{')) return table();
    if (accept('function')) return { code: functionValue(), kind: 'any' };
    return suffixed();
  }

  function table(): Expression {
    expect('{');
    const list: Expression[] = [];
    const members: string[] = [];
    while (!isNext('}')) {
      const following = tokens[at + 1] as Token;
      if (peek().kind === 'name' && following.text === '=' && following.kind === 'symbol') {
        const key = JSON.stringify(name());
        expect('=');
        members.push(`$made.set(${key}, ${one(expression())});`);
      } else if (accept('[')) {
        const key = one(expression());
        expect(']');
        expect('=');
        members.push(`$made.set(${key}, ${one(expression())});`);
      } else list.push(expression());
      if (!accept(',') && !accept(';')) break;
    }
    expect('}');
    const made = `new LuaTable([${spread(list)}])`;
    // Functions in arrow form see the temporaries of the function around.
    return {
      code: members.length === 0 ? made : `(($made) => {${members.join('')} return $made;})(${made})`,
      kind: 'any',
    };
  }

  function suffixed(): Expression {
    let base = primary();
    for (;;) {
      if (accept('.')) base = member(base, { code: JSON.stringify(name()), kind: 'string' });
      else if (accept('[')) {
        const key = expression();
        expect(']');
        base = member(base, key);
      } else if (isNext('(') || peek().kind === 'string') base = called(base);
      else if (isNext('{')) base = { code: `call(${one(base)}, ${table().code})`, kind: 'results' };
      else return base;
    }
  }

  function primary(): Expression {
    if (accept('(')) {
      const inner = one(expression());
      expect(')');
      return { code: `(${inner})`, kind: 'any' };
    }
    const text = name();
    const declared = scopes.findLast((scope) => scope.has(text))?.get(text);
    if (declared !== undefined) return { code: declared, kind: 'any', assign: (value) => `${declared} = ${value}` };
    return { code: `$library.${text}`, kind: 'any', global: text };
  }

  function member(base: Expression, key: Expression): Expression {
    if (base.global !== undefined && key.kind === 'string') return { code: `${base.code}[${key.code}]`, kind: 'any' };
    const [target, property] = [one(base), one(key)];
    return {
      code: `get(${target}, ${property})`,
      kind: 'any',
      assign: (value) => `set(${target}, ${property}, ${value})`,
      member: [target, property],
    };
  }

  function called(base: Expression): Expression {
    if (peek().kind === 'string')
      return { code: `call(${one(base)}, ${JSON.stringify(take().text)})`, kind: 'results' };
    expect('(');
    const values = isNext(')') ? [] : expressions();
    expect(')');
    return { code: `call(${[one(base), ...(values.length > 0 ? [spread(values)] : [])].join(', ')})`, kind: 'results' };
  }

  return { script };
}

/** As one value. */
function one({ code, kind }: Expression): string {
  return kind === 'results' ? `first(${code})` : code;
}

function number(value: Expression): string {
  return value.kind === 'number' ? value.code : `num(${one(value)})`;
}

function condition(value: Expression): string {
  return value.kind === 'boolean' ? value.code : `isTrue(${one(value)})`;
}

/** As the elements of an array or the arguments of a call: the last one gives all its results. */
function spread(values: readonly Expression[]): string {
  const codes = values.map((value, index) =>
    value.kind === 'results' && index === values.length - 1 ? `...all(${value.code})` : one(value),
  );
  return codes.join(', ');
}
