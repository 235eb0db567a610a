// What a page of its own is about: an operation, an upstream, an organization or an error code.

/** By view: the member of a question that narrows it, and what readers call it. */
export const SUBJECTS = {
  operations: { member: 'operation', kind: 'Operation' },
  upstreams: { member: 'upstream', kind: 'Upstream' },
  organizations: { member: 'organization', kind: 'Organization' },
  codes: { member: 'code', kind: 'Error code' },
};

/** Members of the question to the gateway; empty in a view that has no subject. */
export function subjectIn({ view, id }) {
  const known = id === undefined ? undefined : SUBJECTS[view];
  return known === undefined ? {} : { [known.member]: id };
}
