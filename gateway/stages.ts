// The list of the stages, with the properties of each. pipeline.ts declares the types of their functions, and runs them. `npm run docs`
// writes the table of the README from this list.

interface StageKind {
  /** What the stage checks, for the table of the README. */
  readonly checks: string;
  /**
   * The statuses that the stage refuses with, for the table of the README. A reason follows the status if the status alone does not explain
   * it.
   */
  readonly refusesWith: string;
  /** Why a rehearsal (`explain --request`) leaves the stage out; undefined if the stage is rehearsed. */
  readonly unrehearsed?: string;
  /** The name of the event by which a trace shows the end of the stage; undefined for a stage that does not wait, and for `forward`. */
  readonly ended?: string;
}

/** The one list of the stages. Their order is a security property, which test/pinned/stage-order.test.ts holds. */
export const STAGE_LIST = {
  admit: {
    checks: 'one well-formed HTTP request, in a form that every server reads alike',
    refusesWith: '400, 405, 408, 414, 417, 421, 431, 505, 503 when draining or overloaded',
  },
  throttle: {
    checks: 'whether this client address has had too many failures; known valid credentials pass',
    refusesWith: '429',
    unrehearsed: 'a rehearsal does not ask whether the address is blocked',
  },
  match: { checks: 'the operation of a contract', refusesWith: '400, 404, 405, 410, 501' },
  authenticate: {
    checks: "the caller's key, token, session, or user name and password",
    refusesWith: '401, 403 for a session that another site uses, 503 when keys or sessions cannot be checked',
    ended: 'identified',
  },
  authorize: { checks: 'scopes, state and mode of the caller', refusesWith: '401, 403' },
  limit: {
    checks: 'the limits of the organization, over all instances',
    refusesWith: '429, 503 when the counters cannot be reached (`refuse`)',
    ended: 'counted',
  },
  validate: {
    checks: 'path, query, headers and body against the contract; all violations at once',
    refusesWith: '400, 406, 408, 413, 415, 503 when overloaded',
    ended: 'checked',
  },
  replay: {
    checks: 'whether this `Idempotency-Key` was used before; if so, it gives the first answer again',
    refusesWith: '409, 422, 503 when the store cannot be reached',
    unrehearsed: 'looking up an Idempotency-Key claims it',
  },
  forward: {
    checks: 'sends the original bytes, streams the answer, translates failures',
    refusesWith: '429 when too many streams are open, 500, 501, 502, 503, 504, and refusals of the service',
  },
} as const satisfies Readonly<Record<string, StageKind>>;

export type StageName = keyof typeof STAGE_LIST;

/** The names of the stages, in order. Log lines, metrics, traces and `explain` use them, too. */
export const STAGES = Object.keys(STAGE_LIST) as readonly StageName[];

/** The stages that a rehearsal leaves out, each with the reason. */
export const UNREHEARSED_STAGES: Readonly<Partial<Record<StageName, string>>> = valuesOf('unrehearsed');

export type TimedStage = {
  [Name in StageName]: (typeof STAGE_LIST)[Name] extends { ended: string } ? Name : never;
}[StageName];

/**
 * The stages that can wait before the request is forwarded, with the name of the event in a trace. The trail records the time at which each
 * ends.
 */
export const TIMED_STAGES = valuesOf('ended') as {
  readonly [Name in TimedStage]: (typeof STAGE_LIST)[Name]['ended'];
};

/** A member of `stages_ms` in the log line. */
interface StageSpan {
  readonly stage: StageName;
  /** The earlier stages whose time this span includes, because they are not timed themselves. */
  readonly includes: readonly StageName[];
}

/**
 * The spans of a request, in order. A span ends with a timed stage, with the stage before `forward`, or with `forward`. It includes the
 * stages since the end of the previous span.
 */
export const STAGE_SPANS: readonly StageSpan[] = spansOf();

function spansOf(): StageSpan[] {
  const lastTimed = STAGES.findLastIndex((stage) => stage in TIMED_STAGES);
  const lastBeforeForward = STAGES.indexOf('forward') - 1;
  const spans: StageSpan[] = [];
  let includes: StageName[] = [];
  for (const [index, stage] of STAGES.entries()) {
    if (stage in TIMED_STAGES || (index > lastTimed && index >= lastBeforeForward)) {
      spans.push({ stage, includes });
      includes = [];
    } else includes.push(stage);
  }
  return spans;
}

function valuesOf(member: keyof StageKind): Partial<Record<StageName, string>> {
  const kinds = Object.entries<StageKind>(STAGE_LIST);
  return Object.fromEntries(
    kinds.flatMap(([name, { [member]: value }]) => (value === undefined ? [] : [[name, value]])),
  );
}
