// Fills an organization in one mode with demonstration data, once: as soon as it has a customer, nothing is added.
import { RESOURCES } from './catalogue.ts';
import type { Database } from './database.ts';
import { createChance } from './demo/chance.ts';
import { createPlant } from './demo/demo-records.ts';
import { plantFieldService } from './demo/field-service.ts';
import { plantHospitality } from './demo/hotel-demo.ts';
import type { Random } from './identifiers.ts';
import type { RecordStore, Scope } from './store.ts';
import type { Clock } from './write.ts';

const SEED = 20_260_101;

/** Whether there was anything to do. */
export type Seed = (scope: Scope) => boolean;

export function createDemoSeed(database: Database, store: RecordStore, now: Clock, random: Random): Seed {
  return function seed(scope) {
    return database.transaction(() => {
      if (!store.isEmpty(scope, RESOURCES.customers)) return false;
      const plant = createPlant(store, scope, now(), random);
      const chance = createChance(SEED);
      plantFieldService(plant, chance);
      plantHospitality(plant, chance);
      return true;
    });
  };
}
