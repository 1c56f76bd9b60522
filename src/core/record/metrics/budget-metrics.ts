import { ALERT_KINDS } from '../../kernel/alert-kinds.ts';
import { each, metric } from './metric-spec.ts';

export const BUDGET_METRICS = {
  budgetRefusals: metric({
    name: 'gatehouse_budget_refusals_total',
    help: 'Requests that a budget did not admit, by budget and reason: exceeded, unavailable (the process had to ask the store for room).',
    labels: ['budget', 'why'],
  }),
  budgetWarnings: metric({
    name: 'gatehouse_budget_alerts_total',
    help: 'Alerts of budgets that were reached, by budget and percentage of the cap.',
    labels: ['budget', 'percent'],
  }),
  budgetSpent: metric({
    name: 'gatehouse_budget_spent',
    help: 'Spent of a budget in its current period, in USD or tokens, every five seconds. A budget without a request since the start has no series.',
    labels: ['budget', 'unit'],
    aggregator: 'max',
  }),
  budgetHeld: metric({
    name: 'gatehouse_budget_held',
    help: 'Reserved of a budget by requests under way, in USD or tokens, every five seconds.',
    labels: ['budget', 'unit'],
  }),
  budgetCap: metric({
    name: 'gatehouse_budget_cap',
    help: 'Cap of a budget, in USD or tokens.',
    labels: ['budget', 'unit'],
    aggregator: 'max',
  }),
  budgetOverruns: metric({
    name: 'gatehouse_budget_overruns_total',
    help: 'Streams that cost more than their reserve: grown (more was reserved, counted each time), continued or cut (the budget had no room, see on_overrun).',
    labels: ['what'],
    zero: each('what', ['grown', 'continued', 'cut']),
  }),
  budgetUnpriced: metric({
    name: 'gatehouse_budget_unpriced_total',
    help: 'Requests that were sent although their price is not known (unknown_price: admit_and_alarm); budgets in USD do not count them.',
    zero: [{}],
  }),
  budgetExpired: metric({
    name: 'gatehouse_budget_expired_holds_total',
    help: 'Reserves whose request ended without a settle; they count as spent.',
    zero: [{}],
  }),
  budgetLeasesLost: metric({
    name: 'gatehouse_budget_leases_lost_total',
    help: 'Leases that the store declared lost, because the process did not report for 30 s.',
    zero: [{}],
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
};
