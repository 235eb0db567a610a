// Builds the value that the schema of a form describes from the fields of the form, in their order. Throws json_too_complex.

import type { ErrorObject } from 'ajv';
import { GatewayError } from '../../catalogue/errors.ts';
import { type JsonLimits, parseJson } from '../json.ts';
import { toScalar, withoutReference } from '../parameters/parameter.ts';
import type { ValueShape } from '../parameters/value-shape.ts';
import { escapeToken, type JsonObject } from '../pointer.ts';
import { toNumberViolation } from '../scalars/number-literals.ts';
import type { SchemaCheck } from '../schemas/schemas.ts';
import {
  type Fault,
  toBodyViolations,
  VIOLATIONS_MAX,
  type Violation,
  violationInBody,
} from '../violations/violations.ts';
import { isObjectOnly } from './form-encoding.ts';
import { FormLists, type Naming } from './form-lists.ts';
import { type FormPlace, isItemKey } from './form-place.ts';

type Holder = Record<string, unknown> | unknown[];
/** A text that fits several types of its schema. */
interface Uncertain {
  readonly holder: Holder;
  readonly key: string | number;
  readonly pointer: string;
  readonly text: string;
}

const FAULTS = {
  duplicate: { code: 'duplicate', message: 'Is given more than once.' },
  brackets: { code: 'invalid', message: 'Has a name that services read differently. Use pairs of brackets: a[b][0].' },
  numbers: { code: 'invalid', message: 'Has items whose numbers do not rise, or that are named in several ways.' },
  unknown: { code: 'unknown', message: 'Is not known here.' },
} as const satisfies Record<string, Fault>;

/**
 * A field of this name is refused, because some frameworks (Rails, Laravel, Symfony) replace the method of the request by its value, which
 * would bypass the scopes of the operation.
 */
const METHOD_OVERRIDE = '_method';

export class FormValue {
  readonly #value = withoutReference();
  readonly #limits: JsonLimits;
  readonly #shape: ValueShape;
  readonly #violations: Violation[] = [];
  readonly #lists = new FormLists();
  readonly #made = new Set<unknown>([this.#value]);
  readonly #uncertain: Uncertain[] = [];
  /** Pointers of files, whose bytes are not in the value. */
  readonly #files = new Set<string>();
  #size = 0;

  constructor(shape: ValueShape, limits: JsonLimits) {
    this.#shape = shape;
    this.#limits = limits;
  }

  /** The violations that were found without the schema. */
  get found(): readonly Violation[] {
    return this.#violations;
  }

  /** Notes a violation at the place of a field. */
  refuse({ keys }: Pick<FormPlace, 'keys'>, fault: Fault): void {
    this.#refuseAt(pointerOf(keys), fault);
  }

  /** Adds a field of text. `isJson` means that the field itself says that it is JSON. */
  addText(place: FormPlace, text: string, isJson = false): void {
    const { shape, encoding, keys } = place;
    if (encoding.isJson || (isJson && (shape?.types.has('object') || shape?.types.has('array')))) {
      const value = this.#parsed(text, pointerOf(keys));
      // A list in one piece, or one item of it.
      if (keys.length > 1 || Array.isArray(value) || !shape?.types.has('array')) this.#put(place, value);
      else this.#put({ ...place, keys: [...keys, ''], shape: shape.items() }, value, 'repeated');
    } else if (keys.length === 1 && shape?.types.has('array') && !(text === '' && shape.types.has('string'))) {
      if (encoding.separator === undefined)
        this.#put({ ...place, keys: [...keys, ''], shape: shape.items() }, text, 'repeated');
      else this.#putSeparated(place, shape.items(), text, encoding.separator);
    } else this.#put(place, text);
  }

  /** Adds a file; `standIn` takes the place of its bytes. */
  addFile(place: FormPlace, standIn: string): void {
    const isListed = place.keys.length === 1 && place.shape?.types.has('array') === true;
    if (place.isBroken) {
      this.#refuseAt(pointerOf(place.keys.slice(0, 1)), FAULTS.brackets);
      return;
    }
    const slot = this.#slotOf(isListed ? [...place.keys, ''] : place.keys, isListed ? 'repeated' : 'appended');
    if (slot === undefined) return;
    this.#files.add(slot.pointer);
    this.#store(slot, standIn, place.shape);
  }

  /** All violations. `root` is the document that contains the schema. */
  violations(check: SchemaCheck, root: JsonObject): Violation[] {
    const found = toBodyViolations(this.#errors(check), root);
    if (METHOD_OVERRIDE in this.#value && this.#shape.property(METHOD_OVERRIDE) === undefined)
      this.#refuseAt(`/${METHOD_OVERRIDE}`, FAULTS.unknown);
    const own = this.#violations.filter(
      ({ pointer, code }) => !found.some((one) => one.pointer === pointer && one.code === code),
    );
    return [...own, ...found];
  }

  /** Returns the errors of the schema. A text that fits several types is tried with each of them until the schema accepts the value. */
  #errors(check: SchemaCheck): readonly ErrorObject[] {
    const run = () =>
      check(this.#value, this.#size).filter(
        ({ instancePath, keyword }) => keyword === 'readOnly' || !this.#files.has(instancePath),
      );
    let errors = run();
    for (let round = 0; round < 3 && errors.length > 0 && this.#uncertain.length > 0; round += 1) {
      const places = new Set(errors.map(({ instancePath }) => instancePath));
      const texts = this.#uncertain.filter(({ pointer }) => places.has(pointer));
      if (texts.length === 0) break;
      for (const { holder, key, text } of texts) (holder as Record<string, unknown>)[key] = text;
      errors = run();
    }
    return errors;
  }

  #putSeparated(place: FormPlace, items: ValueShape, text: string, separator: string): void {
    const parts = text === '' ? [] : text.split(separator);
    this.#count(parts.length);
    this.#put(
      place,
      parts.map((part) => toScalar(part, items.types)),
    );
  }

  #put({ keys, shape, isBroken, encoding }: FormPlace, given: unknown, naming: Naming = 'appended'): void {
    if (isBroken) {
      this.#refuseAt(pointerOf(keys.slice(0, 1)), FAULTS.brackets);
      return;
    }
    const slot = this.#slotOf(keys, naming);
    if (slot === undefined) return;
    this.#store(slot, this.#typed(slot, given, shape, encoding.style), shape);
  }

  /** Converts a text to a value, by the types of its schema. */
  #typed(slot: Slot, given: unknown, shape: ValueShape | undefined, style: string | undefined): unknown {
    if (typeof given !== 'string' || shape === undefined) return given;
    if (isObjectOnly(shape) && style === undefined) return this.#parsed(given, slot.pointer);
    if (given === '' && shape.types.has('null') && !shape.types.has('string')) return null;
    const value = toScalar(given, shape.types);
    if (typeof value !== 'string' && shape.types.has('string')) this.#uncertain.push({ ...slot, text: given });
    return value;
  }

  #store({ holder, key, pointer }: Slot, value: unknown, shape: ValueShape | undefined): void {
    const target = holder as Record<string, unknown>;
    const before = Array.isArray(holder) ? holder[key as number] : target[key];
    if (before === undefined) target[key] = value;
    else if (shape !== undefined || (this.#made.has(before) && !Array.isArray(before))) {
      this.#refuseAt(pointer, FAULTS.duplicate);
    } else if (Array.isArray(before) && this.#lists.isRepeated(before)) before.push(value);
    else target[key] = this.#newList([before, value], 'repeated');
  }

  #slotOf(keys: readonly string[], naming: Naming): Slot | undefined {
    this.#count(1);
    if (keys.length > this.#limits.jsonDepthMax) {
      throw new GatewayError('json_too_complex', { fields: { max_depth: this.#limits.jsonDepthMax } });
    }
    let holder: Holder = this.#value;
    let shape: ValueShape | undefined = this.#shape;
    let pointer = '';
    for (let at = 0; ; at += 1) {
      const isLast = at === keys.length - 1;
      const written = keys[at] as string;
      const key = Array.isArray(holder)
        ? this.#lists.itemKey(holder, written, isLast ? naming : 'appended', isLast)
        : written;
      if (key === undefined) return this.#refuseAt(pointer, FAULTS.numbers);
      pointer += `/${escapeToken(String(key))}`;
      if (isLast) return { holder, key, pointer };
      shape = Array.isArray(holder) ? shape?.items() : shape?.member(written);
      const below: Holder | undefined = this.#holderIn(holder, key, isItemKey(shape, keys[at + 1] as string));
      if (below === undefined) return this.#refuseAt(pointer, FAULTS.duplicate);
      holder = below;
    }
  }

  /** Returns the list or object at a key, and creates it if there is no value; undefined if there is another value. */
  #holderIn(holder: Holder, key: string | number, isList: boolean): Holder | undefined {
    const target = holder as Record<string, unknown>;
    const there = target[key];
    if (there !== undefined)
      return this.#made.has(there) && Array.isArray(there) === isList ? (there as Holder) : undefined;
    this.#count(1);
    const made = isList ? this.#newList([]) : withoutReference();
    this.#made.add(made);
    target[key] = made;
    return made;
  }

  #newList(items: unknown[], naming?: Naming): unknown[] {
    this.#made.add(items);
    if (naming !== undefined) this.#lists.name(items, naming);
    return items;
  }

  /** Parses JSON in a field. Other text stays text, and the schema refuses it. Throws duplicate_json_member. */
  #parsed(text: string, at: string): unknown {
    try {
      const { value, size, uncheckable } = parseJson(Buffer.from(text), this.#limits);
      this.#count(size);
      for (const { pointer, literal } of uncheckable) {
        this.#violations.push(toNumberViolation({ pointer: at + pointer, literal }));
      }
      return uncheckable.length > 0 ? text : value;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'malformed_json') return text;
      throw error;
    }
  }

  #refuseAt(pointer: string, fault: Fault): undefined {
    const known = this.#violations;
    if (known.length > VIOLATIONS_MAX || known.some((one) => one.pointer === pointer && one.code === fault.code))
      return;
    known.push(violationInBody(pointer, fault));
  }

  #count(members: number): void {
    this.#size += members;
    const { jsonMembersMax } = this.#limits;
    if (this.#size > jsonMembersMax)
      throw new GatewayError('json_too_complex', { fields: { max_members: jsonMembersMax } });
  }
}

interface Slot {
  readonly holder: Holder;
  readonly key: string | number;
  readonly pointer: string;
}

function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${escapeToken(key)}`).join('');
}
