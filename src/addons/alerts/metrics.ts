import { ALERT_KINDS } from '../../core/kernel/alert-kinds.ts';
import { each, metric } from '../../core/record/metrics/metric-spec.ts';
import type { FamiliesOf } from '../../core/record/metrics/metrics.ts';

export const ALERT_METRICS = {
  budgetWarnings: metric({
    name: 'gatehouse_budget_alerts_total',
    help: 'Alerts of budgets that were reached, by budget and percentage of the cap.',
    labels: ['budget', 'percent'],
  }),
  alerts: metric({
    name: 'gatehouse_alerts_total',
    help: `Alerts that were raised, by kind: ${ALERT_KINDS.join(', ')}.`,
    labels: ['kind'],
    zero: each('kind', ALERT_KINDS),
  }),
  webhookTries: metric({
    name: 'gatehouse_webhook_tries_total',
    help: 'Tries to deliver an alert, by webhook and result.',
    labels: ['webhook', 'result'],
  }),
  webhookDeadLetters: metric({
    name: 'gatehouse_webhook_dead_letters_total',
    help: 'Alerts that a webhook did not get, by reason: tries (the last one failed), queue_full, removed (from the settings), shutdown. The log has each of them.',
    labels: ['webhook', 'reason'],
  }),
  webhookQueue: metric({
    name: 'gatehouse_webhook_queue',
    help: 'Alerts that wait for a webhook, at most 1000.',
    labels: ['webhook'],
  }),
  keysExpiring: metric({
    name: 'gatehouse_keys_expiring',
    help: 'Gateway keys that expire within so many days (alerts.key_expiry) and have not expired, of files and of the state store, every minute.',
    labels: ['days'],
    aggregator: 'primary',
  }),
  keysMisconfigured: metric({
    name: 'gatehouse_keys_misconfigured',
    help: 'Gateway keys that are refused because something that they name does not exist or is not valid.',
    aggregator: 'primary',
    zero: [{}],
  }),
  stateObjects: metric({
    name: 'gatehouse_state_objects',
    help: 'Objects of the state store that serve, by kind.',
    labels: ['kind'],
    aggregator: 'primary',
  }),
};

export type AlertFamilies = FamiliesOf<typeof ALERT_METRICS>;
