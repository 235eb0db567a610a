// The owners of leases that may have sent a refresh token, separated by spaces. There are several only if the provider accepts a token again.
// An owner that certainly did not send it leaves the list. When the list is empty, the token may be sent as if for the first time.

/** Characters from which on the list becomes no longer. Each process that ends while it waits for the provider stays in it. */
export const SENDERS_MAX = 1000;
/** Stands for those that are not listed any more. It never leaves the list. */
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
