// Whether a store accepts writes. Only a successful `begin` proves it: a full store still allows reading, forgetting, and mostly finishing.

import type { AnswerStoreStatus } from './store.ts';

export interface State {
  note(next: AnswerStoreStatus['state']): void;
  status(): AnswerStoreStatus;
  /** No change is reported after this call. */
  end(): void;
}

/** Reports only changes. The state is unknown at first unless `state` is given; `status` then returns `away`. */
export function createState(
  kind: AnswerStoreStatus['kind'],
  onChange: (status: AnswerStoreStatus) => void,
  state?: AnswerStoreStatus['state'],
): State {
  let current = state;
  let ended = false;
  const status = (): AnswerStoreStatus => ({ kind, state: current ?? 'away' });
  return {
    note(next) {
      if (current === next || ended) return;
      current = next;
      onChange(status());
    },
    status,
    end() {
      ended = true;
    },
  };
}
