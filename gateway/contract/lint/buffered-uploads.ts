// Finds operations for files whose bodies are buffered. They are legal, but `check` warns of them, because such an operation refuses files
// that are longer than the buffer.

import { essenceOf, isJson, isOfBytes, MULTIPART } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { createValueShapes, type ValueShape } from '../parameters/value-shape.ts';
import { child, isRecord, member, memberNames } from '../pointer.ts';

interface BufferedUpload {
  readonly entry: ContractOperation;
  /** Whether the operation could be streamed, because it does not also accept JSON. */
  readonly canStream: boolean;
}

export function bufferedUploads(operations: readonly ContractOperation[]): BufferedUpload[] {
  return operations.flatMap((entry) => {
    if (entry.operation.body === 'stream') return [];
    const { root } = entry.document;
    const content = member(root, member(root, entry.located, 'requestBody'), 'content');
    const types = memberNames(content);
    if (!types.some((type) => isOfBytes(type) || hasFiles(entry, type))) return [];
    return [{ entry, canStream: !types.some(isJson) }];
  });
}

/** Whether a form has a property that is described as bytes, or as the address of a file (Django REST framework). */
function hasFiles({ document: { root }, located }: ContractOperation, type: string): boolean {
  if (essenceOf(type) !== MULTIPART) return false;
  const content = member(root, member(root, located, 'requestBody'), 'content');
  const schema = child(member(root, content, type), 'schema');
  const shape = createValueShapes(root)(isRecord(schema.value) ? [schema] : []);
  const properties = shape.propertyNames.flatMap((name) => shape.property(name) ?? []);
  return properties.some((property) => isFile(property) || (property.types.has('array') && isFile(property.items())));
}

function isFile({ isBinary, format }: ValueShape): boolean {
  return isBinary || format === 'uri';
}
