// The fields of the dialog of an action, and what the operator entered in them, as members of the request.

import { element } from './elements.js';

/** Seconds of a silence. */
const DURATIONS = [
  ['1800', '30 minutes'],
  ['7200', '2 hours'],
  ['28800', '8 hours'],
  ['86400', 'a day'],
  ['604800', 'a week'],
];

/** Seconds of a silence that are not chosen. 0 ends one; an instance that is gone is dismissed by the shortest one. */
const FIXED_SECONDS = { 'end-silence': 0, 'forget-instance': 60 };

/**
 * The input of an action without fields. `forPlan` and `forChange` return members of the request, `allowsLast` whether the last key may be
 * revoked, `tellLast` the warning about the last key. `onChange` calls back when a field changes: with true if the plan changes with it.
 */
const NOTHING = {
  forPlan: () => ({}),
  forChange: () => ({}),
  allowsLast: () => false,
  tellLast: () => [],
  onChange: () => undefined,
};

export function fieldsFor(action, tiers, tier) {
  if (action in FIXED_SECONDS) {
    const forBoth = () => ({ seconds: FIXED_SECONDS[action] });
    return { parts: [], input: { ...NOTHING, forPlan: forBoth, forChange: forBoth } };
  }
  if (action === 'change-tier') {
    const others = tiers.filter((one) => one !== tier).map((one) => [one, one]);
    return choiceField('New tier', others, (value) => ({ tier: value }));
  }
  if (action === 'silence-alerts') return choiceField('For', DURATIONS, (value) => ({ seconds: Number(value) }));
  return action === 'revoke-key' ? revocationFields() : { parts: [], input: NOTHING };
}

function choiceField(label, choices, toMembers) {
  const select = element(
    'select',
    { id: 'dialog-choice' },
    ...choices.map(([value, shown]) => element('option', { value }, shown)),
  );
  const forBoth = () => toMembers(select.value);
  const labelled = element('label', { for: 'dialog-choice' }, label);
  return {
    parts: [element('p', { class: 'field' }, labelled, select)],
    input: {
      ...NOTHING,
      forPlan: forBoth,
      forChange: forBoth,
      onChange: (change) => select.addEventListener('change', () => change(true)),
    },
  };
}

function revocationFields() {
  const reason = element('input', { id: 'dialog-reason', maxlength: '200', autocomplete: 'off' });
  const box = element('input', { type: 'checkbox', id: 'dialog-last' });
  const last = element(
    'p',
    { class: 'last' },
    element('strong', { class: 'bad' }, '▲ It is the last usable key of its organization.'),
    element('label', {}, box, ' Revoke it anyway'),
  );
  return {
    parts: [
      element('p', { class: 'field' }, element('label', { for: 'dialog-reason' }, 'Reason, for the audit log'), reason),
    ],
    input: {
      forPlan: () => ({}),
      forChange: () => ({ reason: reason.value.trim(), allow_last: box.checked }),
      allowsLast: () => box.checked,
      tellLast: (isLast) => (isLast ? [last] : []),
      onChange: (change) => box.addEventListener('change', () => change(false)),
    },
  };
}
