import { signal } from '@preact/signals';
import { store, stored } from '../storage.ts';
import type { ConsoleSession } from './shapes.ts';

const HALF = 'gatehouse-csrf';

/** Who calls, and what the gateway offers. Undefined until the first answer. */
export const session = signal<ConsoleSession | undefined>(undefined);
/** A call was refused for want of a session: the sign-in is open over the page. */
export const signInNeeded = signal(false);

/** The half of the session that scripts hold; the other half is a cookie that they cannot read. Neither opens anything alone. */
export const half = (): string | null => stored(HALF);
export const keepHalf = (value: string | null): void => store(HALF, value);

const waiting = new Set<() => void>();

/** Resolves when somebody has signed in. Rejects when the caller's `signal` ends. */
export function signedIn(aborted: AbortSignal): Promise<void> {
  signInNeeded.value = true;
  return new Promise((resolve, reject) => {
    waiting.add(resolve);
    aborted.addEventListener('abort', () => {
      waiting.delete(resolve);
      reject(aborted.reason);
    });
  });
}

export function resume(next: ConsoleSession): void {
  session.value = next;
  signInNeeded.value = false;
  for (const go of waiting) go();
  waiting.clear();
}

const ROLES = ['viewer', 'operator', 'admin'] as const;
export type ConsoleRole = (typeof ROLES)[number];

/** The role includes `least`. */
export const may = (least: ConsoleRole): boolean =>
  session.value !== undefined && ROLES.indexOf(session.value.role) >= ROLES.indexOf(least);

/** Why a button is disabled; undefined: it is not. */
export const needs = (least: ConsoleRole): string | undefined =>
  may(least) ? undefined : `This takes the role ${least}; you have ${session.value?.role ?? 'none'}.`;

export const owns = (kind: string): boolean => session.value?.features.owns.includes(kind) ?? false;
