// Pure: the lines of one field. Most fields have the same value in one message after the other: such a line is checked and made once.

import { isFieldValue } from './grammar.ts';

/** Longer values are not kept: the other side chooses some of them. */
const KEPT_CHARACTERS_MAX = 256;

export class FieldLine {
  readonly name: string;
  readonly #prefix: string;
  /** The latest value, and its line. */
  #value: string;
  #line: string;
  /** Whether both are copies, which keep no other text in memory and need no joining when they are written. */
  #isCopied = false;

  /** @param name a token */
  constructor(name: string) {
    this.name = name;
    this.#prefix = `${name}: `;
    this.#value = '';
    this.#line = `${name}: \r\n`;
  }

  /** The line of a value, with its line end; undefined if the value cannot be sent. */
  of(value: string): string | undefined {
    if (value === this.#value) return this.#isCopied ? this.#line : this.#copied();
    if (!isFieldValue(value)) return undefined;
    const line = `${this.#prefix}${value}\r\n`;
    if (value.length > KEPT_CHARACTERS_MAX) return line;
    this.#value = value;
    this.#line = line;
    this.#isCopied = false;
    return line;
  }

  /** At the second use: copying a line that is used once would cost more than it saves. */
  #copied(): string {
    this.#value = copyOf(this.#value);
    this.#line = copyOf(this.#line);
    this.#isCopied = true;
    return this.#line;
  }
}

/** V8 keeps a part of a text as a reference to the whole, and a concatenation as one to its parts. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
