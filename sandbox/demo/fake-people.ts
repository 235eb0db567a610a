// Invented people and places. The telephone numbers and mail domains are reserved for fiction.
import type { Chance } from './chance.ts';

const FIRST_NAMES = [
  'Ada',
  'Bruno',
  'Carmen',
  'Dmitri',
  'Elif',
  'Farah',
  'Gustav',
  'Hana',
  'Imani',
  'Jonas',
  'Keiko',
  'Leandro',
  'Maren',
  'Nikhil',
  'Odile',
  'Priya',
  'Quentin',
  'Rosa',
  'Samir',
  'Tova',
] as const;

const LAST_NAMES = [
  'Abernathy',
  'Bergstrom',
  'Castellan',
  'Dovetail',
  'Eastwick',
  'Fennimore',
  'Gallowglass',
  'Hollowell',
  'Isherling',
  'Juniper',
  'Kestrelman',
  'Larkspur',
  'Merriweather',
  'Northgate',
  'Oakhanger',
  'Pemberley',
  'Quillfeather',
  'Ravenscar',
  'Silverthorn',
  'Thistlewood',
  'Underhill',
  'Vandermeer',
  'Willowby',
] as const;

const STREETS = [
  'Alder Lane',
  'Brickyard Road',
  'Canal Street',
  'Dogwood Court',
  'Elm Terrace',
  'Foundry Row',
] as const;
const CITIES = [
  ['Fairhaven', 'OR', '97001'],
  ['Millbrook', 'TX', '75001'],
  ['Stonebridge', 'CO', '80001'],
  ['Lakemont', 'MN', '55001'],
  ['Harrow Falls', 'NY', '12001'],
] as const;

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

/** `serial` makes the address and the number unique. */
export function inventPerson(chance: Chance, serial: number): Person {
  const [first, last] = [chance.pick(FIRST_NAMES), chance.pick(LAST_NAMES)];
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}.${serial}@example.com`.toLowerCase(),
    phone: `+1555${String(1_000_000 + serial)}`,
  };
}

export function inventAddress(chance: Chance): Readonly<Record<string, string>> {
  const [city, region, postal_code] = chance.pick(CITIES);
  return { line1: `${chance.between(1, 980)} ${chance.pick(STREETS)}`, city, region, postal_code, country: 'US' };
}
