// The demonstration data of a hotel: guests, the experiences it offers, and bookings.
import type { Chance } from './chance.ts';
import { type DemoHistory, ONE_DAY_MS, ONE_HOUR_MS, type Plant } from './demo-records.ts';
import { inventPerson } from './fake-people.ts';
import { many, olderThan } from './field-service.ts';

const EXPERIENCES = [
  ['Sunrise kayak tour', 'outdoor', 6_500, 120, 'Boat house'],
  ['Sunset kayak tour', 'outdoor', 7_500, 120, 'Boat house'],
  ['Forest walk with the ranger', 'outdoor', 2_500, 90, 'North gate'],
  ['Mountain bike trail', 'outdoor', 5_500, 180, 'Bike shed'],
  ['Stargazing on the roof', 'outdoor', 1_500, 60, 'Roof terrace'],
  ['Wine tasting', 'dining', 8_900, 90, 'Cellar'],
  ['Bread baking class', 'dining', 4_900, 150, 'Bakery'],
  ['Table of the chef', 'dining', 16_500, 180, 'Kitchen'],
  ['Picnic basket by the lake', 'dining', 5_900, 120, 'Lakeside'],
  ['Hot stone massage', 'wellness', 12_000, 75, 'Spa'],
  ['Morning yoga', 'wellness', 1_800, 60, 'Garden'],
  ['Private sauna', 'wellness', 6_000, 120, 'Spa'],
  ['Old town by night', 'culture', 3_500, 120, 'Lobby'],
  ['Pottery workshop', 'culture', 5_200, 150, 'Studio'],
  ['Chamber concert', 'culture', 4_500, 100, 'Ballroom'],
  ['Horse carriage ride', 'family', 7_000, 45, 'South gate'],
] as const;
const GUEST_EVERY_MS = 4 * ONE_DAY_MS;
const ROOMS = ['Tennis court', 'Meeting room Birch', 'Airport shuttle', 'Late checkout'] as const;

export function plantHospitality(plant: Plant, chance: Chance): void {
  const guests = many(44, (index) => plantGuest(plant, chance, index));
  const experiences = many(EXPERIENCES.length, (index) => plantExperience(plant, index));
  many(66, (index) => {
    const ageMs = (66 - index) * 2 * ONE_DAY_MS + chance.between(1, 20) * ONE_HOUR_MS;
    const { startsAgeMs, history } = courseOf(chance, index, ageMs);
    const what = index % 6 === 5 ? { resource_name: chance.pick(ROOMS) } : { experience_id: chance.pick(experiences) };
    const values = {
      guest_id: chance.pick(olderThan(ageMs, guests, GUEST_EVERY_MS)),
      ...what,
      starts_at: plant.timeAt(startsAgeMs),
      ...(index % 4 === 3 ? {} : { ends_at: plant.timeAt(startsAgeMs - 2 * ONE_HOUR_MS) }),
      party_size: chance.between(1, 6),
    };
    return plant.record('bookings', ageMs, values, history);
  });
}

function plantGuest(plant: Plant, chance: Chance, index: number): string {
  const { name, email, phone } = inventPerson(chance, 2000 + index);
  return plant.record('guests', (44 - index) * GUEST_EVERY_MS, {
    name,
    ...(index % 7 === 6 ? {} : { email }),
    phone,
    ...(index % 3 === 0
      ? { preferences: { pillow: chance.pick(['down', 'latex']), floor: chance.between(1, 6) } }
      : {}),
    ...(index % 2 === 0 ? { loyalty_number: `LOY-${10_000 + index}` } : {}),
    vip: index % 8 === 0,
  });
}

function plantExperience(plant: Plant, index: number): string {
  const [title, category, amount, duration_minutes, location] = EXPERIENCES[index] ?? EXPERIENCES[0];
  return plant.record('experiences', (300 - index * 12) * ONE_DAY_MS, {
    title,
    price: { amount, currency: 'usd' },
    description: `${title}: meet us at the ${location.toLowerCase()}.`,
    ...(index % 7 === 6 ? {} : { category }),
    duration_minutes,
    capacity: 4 + (index % 5) * 2,
    active: index % 9 !== 8,
    location,
  });
}

/** Three of four bookings are over; of the others some wait to be confirmed. */
function courseOf(chance: Chance, index: number, ageMs: number): { startsAgeMs: number; history: DemoHistory } {
  const change = (status: string, changeAgeMs: number) => ({ ageMs: changeAgeMs, values: { status } });
  const confirmed = change('confirmed', ageMs - ONE_HOUR_MS / 2);
  if (index >= 48) {
    const startsAgeMs = -chance.between(10, 900) * ONE_HOUR_MS;
    return { startsAgeMs, history: { changes: index % 2 === 0 ? [] : [confirmed] } };
  }
  const startsAgeMs = ageMs - 30 * ONE_HOUR_MS;
  const outcome = index % 6 === 4 ? 'canceled' : 'completed';
  return { startsAgeMs, history: { changes: [confirmed, change(outcome, startsAgeMs - 3 * ONE_HOUR_MS)] } };
}
