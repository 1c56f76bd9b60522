import type { Fleet } from './fleet.ts';

/** A gateway that shares its store with no other. */
export const ALONE: Fleet = {
  gateways: 1,
  onGateways() {},
  isCaretaker: true,
  self: () => ({
    id: 'a'.repeat(32),
    host: 'test',
    role: 'single',
    release: '1.0.0',
    startedAt: 0,
    seenAt: 0,
    configHash: '',
    version: 0,
    refused: undefined,
  }),
};
