// Creates, changes and deletes records. Throws validation_failed, resource_missing, reference_missing,
// invalid_transition or upstream_rejected, and has then written nothing.
import type { RecordAnswer } from './answer.ts';
import { changedRecord, newRecord } from './assemble.ts';
import { RESOURCES, referencesOf } from './catalogue.ts';
import { readForm } from './form.ts';
import { createIdentifier, type Random } from './identifiers.ts';
import { SandboxRefusal } from './refusals.ts';
import type { RequestMoment, SandboxResource, StoredRecord } from './resource.ts';
import type { RecordStore, Scope } from './store.ts';

/** Milliseconds since 1970. */
export type Clock = () => number;

export interface Write {
  create(scope: Scope, resource: SandboxResource, body: Uint8Array): RecordAnswer;
  update(scope: Scope, resource: SandboxResource, id: string, body: Uint8Array): RecordAnswer;
  remove(scope: Scope, resource: SandboxResource, id: string): RecordAnswer;
}

/** All of it runs inside a transaction of the caller's. */
export function createWrite(store: RecordStore, now: Clock, random: Random): Write {
  function momentOf(scope: Scope, resource: SandboxResource): RequestMoment {
    return {
      now: laterThan(store.lastChange(scope, resource), now()),
      nextNumber: (sequence) => store.nextNumber(scope, sequence),
    };
  }

  function checkReferences(scope: Scope, resource: SandboxResource, values: StoredRecord): void {
    for (const { member, to } of referencesOf(resource)) {
      const id = values[member];
      if (typeof id !== 'string' || store.exists(scope, RESOURCES[to], id)) continue;
      const message = `The ${RESOURCES[to].noun} that ${member} names does not exist.`;
      throw new SandboxRefusal('reference_missing', { message, param: member });
    }
  }

  function shown(scope: Scope, resource: SandboxResource, id: string): string {
    const body = store.show(scope, resource, id);
    if (body === undefined) throw new SandboxRefusal('resource_missing');
    return body;
  }

  return {
    create(scope, resource, body) {
      const values = readForm(resource, 'create', body);
      const id = createIdentifier(resource.prefix, random);
      const record = newRecord(resource, id, values, momentOf(scope, resource));
      checkReferences(scope, resource, values);
      store.insert(scope, resource, record);
      const headers = { location: `/v1/${resource.name}/${id}` };
      return { status: 201, body: shown(scope, resource, id), headers };
    },
    update(scope, resource, id, body) {
      const values = readForm(resource, 'update', body);
      const record = store.find(scope, resource, id);
      if (!record) throw new SandboxRefusal('resource_missing');
      checkReferences(scope, resource, values);
      store.replace(scope, resource, changedRecord(resource, record, values, momentOf(scope, resource)));
      return { status: 200, body: shown(scope, resource, id) };
    },
    remove(scope, resource, id) {
      if (!store.exists(scope, resource, id)) throw new SandboxRefusal('resource_missing');
      if (store.isReferredTo(scope, resource, id)) throw new SandboxRefusal('upstream_rejected');
      store.remove(scope, resource, id);
      return { status: 200, body: JSON.stringify({ id, deleted: true }) };
    },
  };
}

/**
 * Now, or a millisecond after the last change where the clock has not moved on or was set back. So the order of creation
 * is total, and nothing new appears behind a page that was already read.
 */
function laterThan(last: string | undefined, nowMs: number): string {
  const earliestMs = last === undefined ? nowMs : Date.parse(last) + 1;
  return new Date(Math.max(nowMs, earliestMs)).toISOString();
}
