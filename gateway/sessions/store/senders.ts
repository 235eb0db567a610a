// The list of senders: the owners of leases that may have sent a refresh token, separated by spaces. An owner that has not sent the token
// leaves the list, and while the list is empty, the token counts as not sent.

/** The length in characters from which no owner is added. A process that ends while it waits for the provider stays in the list. */
export const SENDERS_MAX = 1000;
/** The entry for all owners that were not added. It never leaves the list. */
export const OTHERS = 'others';

export function isSender(senders: string, owner: string): boolean {
  return senders.split(' ').includes(owner);
}

export function withSender(senders: string, owner: string): string {
  const added = senders.length > SENDERS_MAX ? OTHERS : owner;
  return isSender(senders, added) ? senders : `${senders} ${added}`.trim();
}

export function withoutSender(senders: string, owner: string): string {
  return senders
    .split(' ')
    .filter((sender) => sender !== owner)
    .join(' ');
}
