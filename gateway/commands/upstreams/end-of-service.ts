// Notices that a service stops during its trial: each request afterwards would be reported for itself.

import { filledTemplate } from '../../upstream/requests/path.ts';
import { type Finding, fail } from '../finding.ts';
import { absenceAt } from './absence.ts';
import type { Backend, BackendRequest } from './backend.ts';

interface Watched {
  readonly backend: Backend;
  /** Connects again if the last request has no answer. Resolves with nothing while the service listens. */
  findings(): Promise<Finding[]>;
}

/** @param address of the service, as in upstreams.yaml */
export function watchService(backend: Backend, address: string): Watched {
  /** The first request since the last answer. */
  let unanswered: BackendRequest | undefined;
  return {
    backend: {
      ...backend,
      async send(asked) {
        const answered = await backend.send(asked);
        unanswered = answered.problem === undefined ? undefined : (unanswered ?? asked);
        return answered;
      },
    },
    async findings() {
      if (unanswered === undefined || (await absenceAt(address)) === undefined) return [];
      const { entry, pathValues, method = entry.operation.method, path, search } = unanswered;
      const target = (path ?? filledTemplate(entry.operation, pathValues)) + search;
      return [
        fail('service', `The service has stopped after ${method} ${target}.`, 'Look at its log, and start it again.'),
      ];
    },
  };
}
