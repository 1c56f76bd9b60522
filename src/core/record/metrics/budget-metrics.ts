import { each, metric } from './metric-spec.ts';

export const BUDGET_METRICS = {
  budgetRefusals: metric({
    name: 'gatehouse_budget_refusals_total',
    help: 'Requests that a budget did not admit, by budget and reason: exceeded, unavailable (the process had to ask the store for room).',
    labels: ['budget', 'why'],
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
};
