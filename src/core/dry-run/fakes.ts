import { UpstreamError } from '../../plugin/index.ts';
import type { Caller, KeyRing, Recorder } from '../kernel/index.ts';
import type { TokenStore } from '../memory/ports.ts';
import type { Upstream } from '../upstream/types.ts';

const CLOSED = (): Promise<never> =>
  Promise.reject(new UpstreamError('connection_failed', 'Explain opens no connection.'));

/** One white pixel, as base64. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** An upstream that sends nothing. Media that the gateway would fetch are replaced by one white pixel. */
export const NO_UPSTREAM: Upstream = {
  send: CLOSED,
  exchange: CLOSED,
  download: () =>
    Promise.resolve({ status: 200, headers: { 'content-type': 'image/png' }, body: Buffer.from(PIXEL, 'base64') }),
  stats: () => [],
  apply() {},
  settingsChanged() {},
  close: () => Promise.resolve(),
};

export const NO_RECORDER: Recorder = { open: () => ({ close() {} }) };

export const FAKE_TOKEN = 'access-token';

export const NO_TOKENS: TokenStore = { get: () => FAKE_TOKEN, refuse: () => false, retain() {} };

/** A key ring that consults `supposed` before the keys of the settings. */
export const supposingKeys = (
  keys: KeyRing,
  supposed: (...key: Parameters<KeyRing['find']>) => Caller | undefined,
) => ({ find: (...key: Parameters<KeyRing['find']>) => supposed(...key) ?? keys.find(...key) });
