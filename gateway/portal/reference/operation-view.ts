// Reads one operation: parameters, body and answers with the values that samples use.

import { withoutMark } from '../highlight.ts';
import {
  type DocumentObject,
  type DocumentTools,
  isDocumentObject,
  listOf,
  membersOf,
  type ReferredOperation,
  textAt,
} from './reference.ts';
import { createSchemaViews, type SchemaView } from './schema-view.ts';

export interface ParameterView {
  readonly place: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  readonly isRequired: boolean;
  readonly isDeprecated: boolean;
  /** Markdown. */
  readonly description: string;
  readonly schema: SchemaView;
  /** Undefined if none fits. */
  readonly example: unknown;
  readonly style: string;
  readonly explode: boolean;
}

export interface MediaView {
  readonly type: string;
  readonly schema: SchemaView;
  /** The first one is used in samples. */
  readonly examples: readonly ExampleView[];
}

export interface ExampleView {
  readonly label: string;
  readonly value: unknown;
}

export interface BodyView {
  readonly isRequired: boolean;
  /** Markdown. */
  readonly description: string;
  readonly media: readonly MediaView[];
}

export interface AnswerView {
  /** `200`, `4XX` or `default` */
  readonly status: string;
  /** Markdown. */
  readonly description: string;
  readonly headers: readonly { readonly name: string; readonly description: string }[];
  readonly media: readonly MediaView[];
}

export interface OperationView {
  readonly parameters: readonly ParameterView[];
  readonly body: BodyView | undefined;
  readonly answers: readonly AnswerView[];
}

const places = ['path', 'query', 'header', 'cookie'] as const;
/** Of each list that a contract may make as long as it likes. */
const SHOWN_MAX = 200;
const EXAMPLES_MAX = 10;
const EXAMPLE_BYTES_MAX = 50_000;
const PROPER_METHODS = /^(GET|HEAD|DELETE|OPTIONS|TRACE)$/;

/** Takes milliseconds: schemas are sampled for which the contract has no example. */
export function viewOfOperation(operation: ReferredOperation, tools: DocumentTools): OperationView {
  const { root, declared } = operation;
  const viewOf = createSchemaViews(root, tools);
  const mediaIn = createMediaViews(root, tools, viewOf);
  const parameters = operation.parameters.slice(0, SHOWN_MAX).flatMap((parameter): ParameterView[] => {
    const place = places.find((one) => one === parameter.in);
    if (place === undefined) return [];
    return [parameterView(place, parameter, viewOf, root, tools)];
  });
  const body = tools.resolve(root, declared.requestBody);
  const hasBody =
    isDocumentObject(body) && !(PROPER_METHODS.test(operation.method) && membersOf(body.content).length === 0);
  return {
    parameters: parameters.sort((one, other) => places.indexOf(one.place) - places.indexOf(other.place)),
    body: hasBody
      ? {
          isRequired: body.required === true,
          description: textAt(body, 'description'),
          media: mediaIn(body.content, 'request'),
        }
      : undefined,
    answers: answersOf(root, declared, tools, mediaIn),
  };
}

type ViewOf = ReturnType<typeof createSchemaViews>;

function parameterView(
  place: ParameterView['place'],
  parameter: DocumentObject,
  viewOf: ViewOf,
  root: DocumentObject,
  tools: DocumentTools,
): ParameterView {
  const [[, inContent] = []] = membersOf(parameter.content);
  const schema = parameter.schema ?? (isDocumentObject(inContent) ? inContent.schema : undefined);
  const style = textAt(parameter, 'style') || (place === 'path' || place === 'header' ? 'simple' : 'form');
  const written = examplesAt(root, parameter, tools);
  const example = written.length > 0 ? written[0]?.value : tools.samplesOf(root, schema, 'request')[0];
  return {
    place,
    name: textAt(parameter, 'name'),
    isRequired: parameter.required === true || place === 'path',
    isDeprecated: parameter.deprecated === true,
    description: textAt(parameter, 'description'),
    schema: viewOf(schema, 'request'),
    example: written.length === 0 && parameter.required !== true && place !== 'path' ? undefined : example,
    style: inContent === undefined ? style : 'json',
    explode: typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form' || style === 'cookie',
  };
}

function createMediaViews(root: DocumentObject, tools: DocumentTools, viewOf: ViewOf) {
  return function mediaIn(content: unknown, purpose: 'request' | 'answer'): MediaView[] {
    return membersOf(content)
      .slice(0, EXAMPLES_MAX)
      .flatMap(([type, found]): MediaView[] => {
        const media = tools.resolve(root, found);
        if (!isDocumentObject(media)) return [];
        const { schema } = media;
        const written = examplesAt(root, media, tools);
        const made = written.length > 0 ? [] : tools.samplesOf(root, schema, purpose).slice(0, 1);
        const examples = [...written, ...made.map((value) => ({ label: 'Example', value }))];
        return [{ type, schema: viewOf(schema, purpose), examples: examples.map(bounded) }];
      });
  };
}

/** `example` and `examples` of a parameter or a media type. */
function examplesAt(root: DocumentObject, owner: DocumentObject, { resolve }: DocumentTools): ExampleView[] {
  const named = membersOf(owner.examples)
    .slice(0, EXAMPLES_MAX)
    .flatMap(([name, found]): ExampleView[] => {
      const example = resolve(root, found);
      if (!isDocumentObject(example)) return [];
      const value = example.value ?? example.dataValue;
      return value === undefined ? [] : [{ label: textAt(example, 'summary') || name, value }];
    });
  if (named.length > 0) return named;
  const schema = resolve(root, owner.schema);
  const [ofSchema] = isDocumentObject(schema) ? [schema.example, ...listOf(schema.examples)].filter(isGiven) : [];
  const value = owner.example ?? ofSchema;
  return value === undefined ? [] : [{ label: 'Example', value }];
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

/** A longer example is replaced by a text: it is in the OpenAPI document. */
function bounded({ label, value }: ExampleView): ExampleView {
  const text = JSON.stringify(value) ?? '';
  if (text.length > EXAMPLE_BYTES_MAX) return { label, value: 'This example is in the OpenAPI document.' };
  return { label, value: text.includes('\uE000') ? JSON.parse(withoutMark(text)) : value };
}

function answersOf(
  root: DocumentObject,
  declared: DocumentObject,
  { resolve }: DocumentTools,
  mediaIn: ReturnType<typeof createMediaViews>,
): AnswerView[] {
  return membersOf(declared.responses)
    .slice(0, SHOWN_MAX)
    .flatMap(([status, found]): AnswerView[] => {
      const answer = resolve(root, found);
      if (!isDocumentObject(answer) || !/^([1-5](\d\d|XX)|default)$/i.test(status)) return [];
      const headers = membersOf(answer.headers)
        .slice(0, SHOWN_MAX)
        .map(([name, header]) => ({ name, description: textAt(resolve(root, header), 'description') }));
      return [
        { status, description: textAt(answer, 'description'), headers, media: mediaIn(answer.content, 'answer') },
      ];
    });
}
