// Compares the texts of an upstream with the values that the client submitted. Finds the place of a value, and texts that would reveal a
// secret.

import { containsAny, foldText } from '../../errors/submitted-secrets.ts';

/** A string or number of the request, with its place. */
interface Value {
  /** `emails[0]`, as in the param of validation_failed. */
  readonly place: string;
  readonly text: string;
  readonly isSecret: boolean;
  /** True for a member that identifies the change in a list of changes: `{"action": "set", "field": "members", "value": …}`. */
  readonly isName: boolean;
}

export interface SubmittedText {
  /** Returns the place of the first string that equals `named`, or is an address at the domain `named`, without regard to case. */
  placeOf(named: string): string | undefined;
  /** Returns true if the text contains no submitted value. */
  isFree(text: string): boolean;
  /** Returns true if the text contains no submitted secret, nor a word of 4 or more characters from one. */
  isFreeOfSecrets(text: string): boolean;
}

/**
 * A text is also withheld if it contains a part of a secret with at least this length. An upstream that repeats a secret may escape some
 * characters, so that the whole secret is not found.
 */
const LONG_PART = /[\p{L}\p{M}\p{N}]{4,}/gu;

/**
 * Reads the values that the client submitted.
 *
 * @param body the JSON value that the client sent
 * @param secretNames names of members that hold secrets; the value beside such a name is a secret, too, as in `{"field": "password",
 * "value": "…"}`
 */
export function submittedIn(
  body: unknown,
  pathValues: readonly string[],
  secretNames: ReadonlySet<string>,
): SubmittedText {
  const inBody = valuesIn(body, secretNames);
  const values = inBody.filter(({ isName }) => !isName).map(({ text }) => text);
  const texts = [...values, ...pathValues].filter((text) => text !== '').map(foldText);
  const secrets = inBody.filter(({ isSecret, text }) => isSecret && text !== '').map(({ text }) => foldText(text));
  const secretParts = secrets.flatMap((secret) => [secret, ...(secret.match(LONG_PART) ?? [])]);

  function placeOf(named: string): string | undefined {
    const wanted = foldText(named);
    return inBody.find(({ place, text }) => {
      const candidate = foldText(text);
      return place !== '' && (candidate === wanted || candidate.endsWith(`@${wanted}`));
    })?.place;
  }

  return {
    placeOf,
    isFree: (text) => !containsAny(text, texts) && !containsAny(text, secretParts),
    isFreeOfSecrets: (text) => !containsAny(text, secretParts),
  };
}

/** Lists the values in the order of the text. The recursion is bounded, because the nesting of the body was limited when it was read. */
function valuesIn(body: unknown, secretNames: ReadonlySet<string>): Value[] {
  const values: Value[] = [];

  function walk(value: unknown, place: string, isSecret: boolean, isName: boolean): void {
    if (typeof value === 'string' || typeof value === 'number') {
      values.push({ place, text: String(value), isSecret, isName });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) walk(item, `${place}[${index}]`, isSecret, isName);
    } else if (typeof value === 'object' && value !== null) {
      const namesSecret = Object.values(value).some((member) => typeof member === 'string' && secretNames.has(member));
      for (const [name, member] of Object.entries(value)) {
        const isNameOfSecret = typeof member === 'string' && secretNames.has(member);
        const secret = isSecret || secretNames.has(name) || (namesSecret && !isNameOfSecret);
        walk(
          member,
          place === '' ? name : `${place}.${name}`,
          secret,
          isName || ('value' in value && name !== 'value'),
        );
      }
    }
  }

  walk(body, '', false, false);
  return values;
}
