import type { Settings } from '../settings/read/load.ts';
import type { OutboundWay } from '../upstream/index.ts';

/** The way to upstreams, in the words of src/upstream. */
export const outboundOf = ({ outbound, tls: { upstreams } }: Pick<Settings, 'outbound' | 'tls'>): OutboundWay => ({
  ...outbound,
  ca: upstreams === undefined ? [] : [upstreams],
});
