// Makes the form of an operation, filled with the values of its examples, which samples show first, and with which "Send" begins.

import {
  type SampleForm,
  type SampleParameter,
  type SampleRequest,
  sampleContentOf,
  sentTypeOf,
  toSampleRequest,
} from '../samples/sample-request.ts';
import type { MediaView } from './body-view.ts';
import type { OperationView, ParameterView } from './operation-view.ts';
import type { ReferredOperation } from './reference.ts';
import type { SchemaView } from './schema-view.ts';

/** Returns a form with every required parameter. Optional parameters are left out. */
export function sampleFormOf(operation: ReferredOperation, view: OperationView, server: string): SampleForm {
  const alternative = alternativeOf(operation);
  const uniqueHeader = operation.idempotency === 'off' ? undefined : 'Idempotency-Key';
  const media = view.body?.media[0];
  const value = media?.examples[0]?.value;
  const bodyType = media && sentTypeOf(media.type, value);
  return {
    method: operation.method,
    server,
    path: operation.path,
    uniqueHeader,
    credentials: alternative === undefined ? 'none' : alternative.scheme === 'basic' ? 'basic' : 'key',
    parameters: view.parameters
      .filter(({ isRequired }) => isRequired)
      .filter(({ place, name }) => place !== 'header' || name.toLowerCase() !== uniqueHeader?.toLowerCase())
      .map(fillParameter),
    body: media && sampleContentOf(bodyType ?? '', value, filesIn(media)),
    bodyType,
    response: operation.webSocket ? 'messages' : isStream(view) ? 'lines' : 'whole',
  };
}

function filesIn({ schema }: MediaView): string[] {
  return schema.members.filter(({ schema: member }) => isFileMember(member)).map(({ name }) => name);
}

/** Whether a field of a form is a file, or a list of files. */
export function isFileMember({ type }: Pick<SchemaView, 'type'>): boolean {
  return /^(array of )?bytes/.test(type);
}

/** Whether a successful response may stay open, so that a sample that waits for its end would print nothing. */
function isStream({ answers }: OperationView): boolean {
  const good = answers.filter(({ status }) => status.startsWith('2'));
  return good.some(({ media }) => media.some(({ type }) => /event-stream|ndjson|jsonl|json-seq/i.test(type)));
}

export function sampleRequestOf(operation: ReferredOperation, view: OperationView, server: string): SampleRequest {
  return toSampleRequest(sampleFormOf(operation, view, server));
}

function fillParameter({ place, name, style, explode, example }: ParameterView): SampleParameter {
  return { place, name, style, explode, value: style === 'json' ? JSON.stringify(example) : example };
}

/** Chooses the credentials to show. Without test data, test keys are refused, so another kind is shown if there is one. */
function alternativeOf({ security, hasTestMode }: ReferredOperation) {
  const basic = security.find(({ scheme }) => scheme === 'basic');
  return hasTestMode ? security[0] : (basic ?? security[0]);
}
