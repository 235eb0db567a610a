// The text of a seed: everything that a run follows from, such as `keys/1002/3` for three hours of the protocol `keys`.

import { protocolNamed } from './protocols/all.ts';
import type { Spec } from './run.ts';

export function seedText({ protocol, seed, hours }: Spec): string {
  return `${protocol.name}/${seed}/${hours}`;
}

/** Throws a sentence if the text is no seed. */
export function parseSeed(text: string): Spec {
  const [name = '', seed = '', hours = '1'] = text.split('/');
  if (seed === '' || !(Number(hours) > 0)) throw new Error(`"${text}" is no seed such as keys/1002/3.`);
  return { protocol: protocolNamed(name), seed, hours: Number(hours) };
}
