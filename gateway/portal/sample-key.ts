// A key that no gateway accepts, for the example of a refusal.

export const BAD_KEY = 'sk_live_mistyped';
