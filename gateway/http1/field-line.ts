// Makes the lines of one header field. Most fields have the same value in many messages, so the latest line is cached, and a repeated value
// is checked and joined only once. Pure.

import { isFieldValue } from './grammar.ts';

/** Longer values are not kept, because the other side chooses some of them. */
const KEPT_CHARACTERS_MAX = 256;

export class FieldLine {
  readonly name: string;
  readonly #prefix: string;
  /** The latest value, and its line. */
  #value: string;
  #line: string;
  /**
   * Whether `#value` and `#line` are flat copies. A value that is a slice of a head keeps the whole head in memory, and a concatenated line
   * is joined again at each write.
   */
  #isCopied = false;

  /** @param name a token */
  constructor(name: string) {
    this.name = name;
    this.#prefix = `${name}: `;
    this.#value = '';
    this.#line = `${name}: \r\n`;
  }

  /** Returns the line of a value, with its line end; undefined if the value cannot be sent. */
  lineOf(value: string): string | undefined {
    if (value === this.#value) return this.#isCopied ? this.#line : this.#copied();
    if (!isFieldValue(value)) return undefined;
    const line = `${this.#prefix}${value}\r\n`;
    if (value.length > KEPT_CHARACTERS_MAX) return line;
    this.#value = value;
    this.#line = line;
    this.#isCopied = false;
    return line;
  }

  /**
   * Makes flat copies of value and line at their second use. For a line that is used only once, the copies would cost more than they save.
   */
  #copied(): string {
    this.#value = copyOf(this.#value);
    this.#line = copyOf(this.#line);
    this.#isCopied = true;
    return this.#line;
  }
}

/** Returns a flat copy. V8 keeps a slice as a reference to the whole text, and a concatenation as references to its parts. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
