// The life of one request, top to bottom. Start reading here.

import type { Arrived, Stages } from './exchange.ts';

/** Takes a request through all stages. Rejects with what a stage threw; the trail then says which stage it was. */
export type Pipeline = (arrived: Arrived) => Promise<void>;

/**
 * The order is a security property: cheap checks that need no body first, nothing is counted before it is known who asks, nothing
 * reaches an upstream unchecked. The stage is noted before it runs, so that a refusal says where it was made. Each stage needs the type that the one before it returns, so forgetting one does not compile.
 */
export function createPipeline(stages: Stages): Pipeline {
  return async function handle(arrived) {
    const { trail } = arrived;

    trail.stage = 'admit';
    const admitted = stages.admit(arrived);

    trail.stage = 'throttle';
    stages.throttle(admitted);

    trail.stage = 'match';
    const matched = stages.match(admitted);

    trail.stage = 'authenticate';
    const identified = await stages.authenticate(matched);
    trail.identifiedAt = performance.now();

    trail.stage = 'authorize';
    const permitted = stages.authorize(identified);

    trail.stage = 'limit';
    const counted = await stages.limit(permitted);
    trail.countedAt = performance.now();

    trail.stage = 'validate';
    const checked = await stages.validate(counted);
    trail.checkedAt = performance.now();

    trail.stage = 'replay';
    const fresh = await stages.replay(checked);
    if (fresh === undefined) return;

    trail.stage = 'forward';
    await stages.forward(fresh);
  };
}
