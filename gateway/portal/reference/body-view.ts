// Reads the media types, schemas and examples of the bodies of requests and answers.

import { isRecord } from '../../shared/is-record.ts';
import { withoutMark } from '../highlight.ts';
import { type DocumentObject, type DocumentTools, listOf, membersOf, textAt } from './reference.ts';
import { createSchemaViews, type SchemaView } from './schema-view.ts';

export interface MediaView {
  readonly type: string;
  readonly schema: SchemaView;
  /** The first one is used in samples. */
  readonly examples: readonly ExampleView[];
}

interface ExampleView {
  readonly label: string;
  readonly value: unknown;
}

export interface BodyView {
  readonly isRequired: boolean;
  /** Markdown. */
  readonly description: string;
  readonly media: readonly MediaView[];
}

const EXAMPLES_MAX = 10;
const EXAMPLE_BYTES_MAX = 50_000;

/** Returns a reader of request bodies; undefined if there is none. */
export function createBodyViews(root: DocumentObject, tools: DocumentTools) {
  const mediaIn = createMediaViews(root, tools, createSchemaViews(root, tools));
  return function bodyView(declared: unknown, purpose: 'request' | 'answer'): BodyView | undefined {
    const body = tools.resolve(root, declared);
    if (!isRecord(body)) return undefined;
    const { required, content } = body;
    return {
      isRequired: required === true,
      description: textAt(body, 'description'),
      media: mediaIn(content, purpose),
    };
  };
}

/** Returns a reader of media types with their schemas and examples. */
export function createMediaViews(
  root: DocumentObject,
  tools: DocumentTools,
  viewOf: ReturnType<typeof createSchemaViews>,
) {
  return function mediaIn(content: unknown, purpose: 'request' | 'answer'): MediaView[] {
    return membersOf(content)
      .slice(0, EXAMPLES_MAX)
      .flatMap(([type, found]): MediaView[] => {
        const media = tools.resolve(root, found);
        if (!isRecord(media)) return [];
        const { schema } = media;
        const written = exampleViewsAt(root, media, tools);
        const made = written.length > 0 ? [] : tools.samplesOf(root, schema, purpose).slice(0, 1);
        const examples = [...written, ...made.map((value) => ({ label: 'Example', value }))];
        return [{ type, schema: viewOf(schema, purpose), examples: examples.map(boundExample) }];
      });
  };
}

/** Returns `example` and `examples` of a parameter or a media type. */
export function exampleViewsAt(root: DocumentObject, owner: DocumentObject, { resolve }: DocumentTools): ExampleView[] {
  const named = membersOf(owner.examples)
    .slice(0, EXAMPLES_MAX)
    .flatMap(([name, found]): ExampleView[] => {
      const example = resolve(root, found);
      if (!isRecord(example)) return [];
      const value = example.value ?? example.dataValue;
      return value === undefined ? [] : [{ label: textAt(example, 'summary') || name, value }];
    });
  if (named.length > 0) return named;
  const schema = resolve(root, owner.schema);
  const [ofSchema] = isRecord(schema) ? [schema.example, ...listOf(schema.examples)].filter(isGiven) : [];
  const value = owner.example ?? ofSchema;
  return value === undefined ? [] : [{ label: 'Example', value }];
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

/** Replaces an example that is too long by a text. The OpenAPI document contains the example. */
function boundExample({ label, value }: ExampleView): ExampleView {
  const text = JSON.stringify(value) ?? '';
  if (text.length > EXAMPLE_BYTES_MAX) return { label, value: 'This example is in the OpenAPI document.' };
  return { label, value: text.includes('\uE000') ? JSON.parse(withoutMark(text)) : value };
}

/**
 * Returns an example as text for a page. A text is unchanged, unless the media type is JSON and the text is not. Other values become JSON.
 */
export function exampleText(value: unknown, type = ''): string {
  return typeof value === 'string' && !(isJsonType(type) && !/^\s*[[{]/.test(value))
    ? value
    : (JSON.stringify(value, null, 2) ?? '');
}

export function isJsonType(type: string): boolean {
  return /^[^;]*[/+]json\s*(;|$)/i.test(type);
}
