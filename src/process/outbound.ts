import type { Settings } from '../settings/read/load.ts';
import type { Outbound } from '../upstream/index.ts';

/** The way to upstreams, in the words of src/upstream. */
export const outboundOf = ({ outbound, tls: { upstreams } }: Pick<Settings, 'outbound' | 'tls'>): Outbound => ({
  ...outbound,
  ca: upstreams === undefined ? [] : [upstreams],
});
