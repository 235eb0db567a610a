// Pure: texts of causes that refer to figures. Several instances may have the same cause, and its sentence then has the sums of their
// figures.

import type { Symptom } from '../../shared/contracts/cause.ts';
import { estimateText } from './service-times.ts';
import { symptomsText } from './symptoms.ts';

export type CauseFigures = Readonly<Record<string, number>>;

/** A part of a text that is made from figures, named by their keys. */
type Reference =
  /** The sum of figures. */
  | { readonly count: readonly string[] }
  | { readonly duration: string }
  /** The sum of figures, in percent of another one. */
  | { readonly percent: readonly string[]; readonly of: string }
  /** The sentence about the operations that fail because of the cause. */
  | { readonly symptoms: true };

/** The parts of a text, in their order. */
export type Telling = readonly (string | Reference)[];

export const count = (...figures: string[]): Reference => ({ count: figures });
export const duration = (figure: string): Reference => ({ duration: figure });
export const percent = (figures: readonly string[], of: string): Reference => ({ percent: figures, of });
export const SYMPTOMS: Reference = { symptoms: true };

/** Makes a text from a template whose values are texts and references to figures. */
export function telling(texts: TemplateStringsArray, ...values: readonly (string | Reference | Telling)[]): Telling {
  return texts.flatMap((text, index) => [text, values[index] ?? ''].flat()).filter((part) => part !== '');
}

export function toldText(
  told: string | Telling,
  figures: CauseFigures = {},
  symptoms: readonly Symptom[] = [],
): string {
  if (typeof told === 'string') return told;
  const sumOf = (keys: readonly string[]) => keys.reduce((sum, key) => sum + (figures[key] ?? 0), 0);
  const parts = told.map((part) => {
    if (typeof part === 'string') return part;
    if ('count' in part) return String(sumOf(part.count));
    if ('duration' in part) return estimateText(sumOf([part.duration]));
    if ('symptoms' in part) return symptomsText(symptoms);
    return String(Math.round((100 * sumOf(part.percent)) / Math.max(1, sumOf([part.of]))));
  });
  return parts.join('');
}
