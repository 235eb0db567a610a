// The lists of a form, and the names of their items. Mixtures of naming forms are refused, because services read them differently.

/** The form of the names of list items: `a=1&a=2`, `a[]=1` or `a[0]=1`. */
export type Naming = 'repeated' | 'appended' | 'numbered';

/** The index of each item by its number, and the last number. Numbers rise and may have gaps. */
interface Numbers {
  readonly indexes: Map<number, number>;
  last: number;
}

export class FormLists {
  readonly #namings = new Map<unknown[], Naming>();
  readonly #numbers = new Map<unknown[], Numbers>();

  name(list: unknown[], naming: Naming): void {
    this.#namings.set(list, naming);
  }

  isRepeated(list: unknown[]): boolean {
    return this.#namings.get(list) === 'repeated';
  }

  /** Returns the index of an item; undefined if services would read its name differently. */
  itemKey(list: unknown[], written: string, naming: Naming, isLast: boolean): number | undefined {
    const isNumber = written !== '';
    const used = isNumber ? 'numbered' : naming;
    const before = this.#namings.get(list) ?? used;
    this.#namings.set(list, before);
    if (before !== used) return undefined;
    // `a[][b]=1&a[][c]=2` is one item for Rails and two for PHP.
    if (!isNumber) return isLast ? list.length : undefined;
    const number = Number(written);
    const numbers = this.#numbers.get(list) ?? { indexes: new Map<number, number>(), last: -1 };
    this.#numbers.set(list, numbers);
    const known = numbers.indexes.get(number);
    if (String(number) !== written || (known === undefined && number <= numbers.last)) return undefined;
    if (known !== undefined) return known;
    numbers.last = number;
    numbers.indexes.set(number, numbers.indexes.size);
    return numbers.indexes.size - 1;
  }
}
