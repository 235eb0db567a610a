// Fills an organization in one mode with demonstration data, once: as soon as it has a customer, nothing is added but the records that
// the examples of the contracts name. Those are test data.
import { RESOURCES } from './catalogue.ts';
import type { Database } from './database.ts';
import { createChance } from './demo/chance.ts';
import { createPlant } from './demo/demo-records.ts';
import { plantExamples } from './demo/example-records.ts';
import { plantFieldService } from './demo/field-service.ts';
import { plantHospitality } from './demo/hotel-demo.ts';
import type { Random } from './identifiers.ts';
import type { ResourceName } from './kinds.ts';
import type { RecordStore, Scope } from './store.ts';
import type { Clock } from './write.ts';

const SEED = 20_260_101;

/** Whether there was anything to do. */
export type Seed = (scope: Scope) => boolean;

export function createDemoSeed(database: Database, store: RecordStore, now: Clock, random: Random): Seed {
  return function seed(scope) {
    return database.transaction(() => {
      const plant = createPlant(store, scope, now(), random);
      const isMissing = (resource: ResourceName, id: string) => !store.exists(scope, RESOURCES[resource], id);
      const isFilled = !store.isEmpty(scope, RESOURCES.customers);
      const isPlanted = scope.startsWith('test') && plantExamples(plant, isMissing);
      if (isFilled) return isPlanted;
      const chance = createChance(SEED);
      plantFieldService(plant, chance);
      plantHospitality(plant, chance);
      return true;
    });
  };
}
