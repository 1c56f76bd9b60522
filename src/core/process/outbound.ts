import type { Settings } from '../settings/read/load.ts';
import type { OutboundWay } from '../upstream/types.ts';

/** Converts the settings of outbound connections to the type that src/core/upstream takes. */
export const outboundOf = ({ outbound, tls: { upstreams } }: Pick<Settings, 'outbound' | 'tls'>): OutboundWay => ({
  ...outbound,
  ca: upstreams === undefined ? [] : [upstreams],
});
