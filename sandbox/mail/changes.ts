// Pure: reads the body of a PATCH, an array of changes. A value can be a text, an amount, texts or amounts; anything
// else is 400 before any field is looked at.
import { invalidParameters } from './answers.ts';
import { type FieldName, isAmount, isField, isShort } from './fields.ts';
import { parseMailJson } from './form.ts';

export type Action = 'set' | 'addItem' | 'removeItem';
export type Value = string | number | readonly string[] | readonly number[];

export interface MailChange {
  readonly action: Action;
  readonly field: FieldName;
  readonly value: Value;
}

/** @throws Refused 400 */
export function readChanges(body: Buffer | undefined): readonly MailChange[] {
  const sent = parseMailJson(body?.toString() ?? '');
  if (!Array.isArray(sent)) throw invalidParameters();
  return sent.map(readChange);
}

function readChange(sent: unknown): MailChange {
  if (typeof sent !== 'object' || sent === null) throw invalidParameters();
  const { action, field, value } = sent as Readonly<Record<string, unknown>>;
  if (!isAction(action) || typeof field !== 'string' || !isField(field) || !isValue(value)) throw invalidParameters();
  return { action, field, value };
}

const isAction = (action: unknown): action is Action =>
  action === 'set' || action === 'addItem' || action === 'removeItem';

const isText = (value: unknown): value is string => typeof value === 'string' && isShort(value);

function isValue(value: unknown): value is Value {
  if (Array.isArray(value)) return value.every(isText) || value.every(isAmount);
  return isText(value) || isAmount(value);
}

/** An empty array is one of texts. */
export const isTexts = (value: Value): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** The value as the real server prints it into its reasons, for any type. */
export function printed(value: Value): string {
  if (typeof value === 'string') return `String(${JSON.stringify(value)})`;
  if (typeof value === 'number') return `Integer(${value})`;
  return `${isTexts(value) ? 'StringList' : 'IntegerList'}(${JSON.stringify(value)})`;
}
