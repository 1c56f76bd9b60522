import { each, metric } from '../../core/record/metrics/metric-spec.ts';

export const RESPONSE_METRICS = {
  webSocketsOpen: metric({
    name: 'gatehouse_websockets_open',
    help: 'Open WebSockets by state: answering (a message is being answered), waiting (for a message). websockets.per_key bounds those of a key.',
    labels: ['state'],
    zero: each('state', ['answering', 'waiting']),
  }),
};
