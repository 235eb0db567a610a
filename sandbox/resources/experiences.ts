// Experiences: the catalogue of what guests can book beyond their room.
import { FLAG, integer, text } from '../kinds.ts';
import { by, byText, equals, optional, required, type SandboxResource } from '../resource.ts';
import { money } from '../shapes.ts';

const category = text({ max: 64 });

export const EXPERIENCES: SandboxResource = {
  name: 'experiences',
  prefix: 'exp',
  noun: 'experience',
  fields: {
    title: required(text({ max: 200 })),
    price: required(money),
    description: optional(text({ max: 5000 })),
    category: optional(category),
    duration_minutes: optional(integer(1, 43_200)),
    capacity: optional(integer(1, 10_000)),
    active: optional(FLAG, true),
    location: optional(text({ max: 200 })),
  },
  kept: {},
  derived: {},
  filters: { category: equals('category', category), active: equals('active', FLAG) },
  sorts: { title: byText('title'), price: by('price.amount') },
};
