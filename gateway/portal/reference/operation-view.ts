// Reads the parameters, body and answers of one operation for its page, with values for samples, and the needs of a request.

import { isRecord } from '../../shared/is-record.ts';
import type { OperationAddress } from './addresses.ts';
import { type BodyView, createBodyViews, createMediaViews, exampleViewsAt, type MediaView } from './body-view.ts';
import { type DocumentObject, type DocumentTools, membersOf, type ReferredOperation, textAt } from './reference.ts';
import { createSchemaViews, type SchemaView } from './schema-view.ts';
import { callbacksOf, type SentRequestView } from './sent-requests.ts';

export interface ParameterView {
  readonly place: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  readonly isRequired: boolean;
  readonly isDeprecated: boolean;
  /** Markdown. */
  readonly description: string;
  readonly schema: SchemaView;
  /** The example; undefined if none is valid. */
  readonly example: unknown;
  readonly style: string;
  readonly explode: boolean;
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
  /** Requests that the service sends to the client. */
  readonly callbacks: readonly SentRequestView[];
}

const PARAMETER_PLACES = ['path', 'query', 'header', 'cookie'] as const;
/** The number of items that are shown of each list, because a contract may contain lists of any length. */
const SHOWN_MAX = 200;
const PROPER_METHODS = /^(GET|HEAD|DELETE|OPTIONS|TRACE)$/;

/** Reads the operation. This takes milliseconds, because schemas without an example in the contract are sampled. */
export function viewOfOperation(operation: ReferredOperation, tools: DocumentTools): OperationView {
  const { root, declared } = operation;
  const viewOf = createSchemaViews(root, tools);
  const mediaIn = createMediaViews(root, tools, viewOf);
  const parameters = operation.parameters.slice(0, SHOWN_MAX).flatMap((parameter): ParameterView[] => {
    const place = PARAMETER_PLACES.find((one) => one === parameter.in);
    if (place === undefined) return [];
    return [parameterView(place, parameter, viewOf, root, tools)];
  });
  const body = createBodyViews(root, tools)(declared.requestBody, 'request');
  const hasBody = body !== undefined && !(PROPER_METHODS.test(operation.method) && body.media.length === 0);
  return {
    parameters: parameters.sort(
      (one, other) => PARAMETER_PLACES.indexOf(one.place) - PARAMETER_PLACES.indexOf(other.place),
    ),
    body: hasBody ? body : undefined,
    answers: answersOf(root, declared, tools, mediaIn),
    callbacks: callbacksOf(root, declared, tools),
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
  const schema = parameter.schema ?? (isRecord(inContent) ? inContent.schema : undefined);
  const style = textAt(parameter, 'style') || (place === 'path' || place === 'header' ? 'simple' : 'form');
  const written = exampleViewsAt(root, parameter, tools);
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
      if (!isRecord(answer) || !/^([1-5](\d\d|XX)|default)$/i.test(status)) return [];
      const headers = membersOf(answer.headers)
        .slice(0, SHOWN_MAX)
        .map(([name, header]) => ({ name, description: textAt(resolve(root, header), 'description') }));
      return [
        { status, description: textAt(answer, 'description'), headers, media: mediaIn(answer.content, 'answer') },
      ];
    });
}

/** Returns sentences in Markdown about credentials, modes, limits, pages and retries. Guides that are not shown are linked, too. */
export function needsOf({ operation, isForOperators }: OperationAddress, { parameters }: OperationView): string[] {
  const { method, security, idempotency, hasTestMode, webSocket } = operation;
  const ways = security.map(({ scheme, scopes }) => {
    if (scheme === 'basic') return 'user name and password (Basic)';
    const named = scopes.map((scope) => `\`${scope}\``).join(' and ');
    return named === ''
      ? 'an [API key](/docs/guides/authentication)'
      : `a [key](/docs/guides/authentication) with the scope ${named}`;
  });
  const isPaged = method === 'GET' && parameters.some(({ place, name }) => place === 'query' && name === 'cursor');
  const key = '[`Idempotency-Key`](/docs/guides/idempotency)';
  return [
    ...(isForOperators ? ['Is for operators of the API: keys of clients cannot hold its scope.'] : []),
    ways.length === 0 ? 'Needs no credentials.' : `Needs ${ways.join(', or ')}.`,
    ...(hasTestMode || ways.length === 0 ? [] : ['Has no test data: test keys are refused.']),
    ...(idempotency === 'required' ? [`Requires an ${key}.`] : []),
    ...(idempotency === 'optional' ? [`May be repeated safely with an ${key}.`] : []),
    ...(isPaged ? ['Responds [page by page](/docs/guides/pagination).'] : []),
    ...(ways.length === 0 ? [] : ['Counts against your [rate limit](/docs/guides/rate-limits).']),
    ...(webSocket ? ['Opens a WebSocket.'] : []),
  ];
}
