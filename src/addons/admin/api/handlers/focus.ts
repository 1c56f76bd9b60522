import type { RollupDimension, RollupQuery, RollupRow } from '../../../../core/ports/ledger.ts';
import { costText } from '../../../../core/ports/money.ts';
import type { ZoneDays } from '../../../../core/ports/zone-days.ts';

// Columns of FOCUS, the FinOps Open Cost and Usage Specification: https://focus.finops.org/focus-specification/v1-2

/** The dimensions that tell the rows of a charge apart, beside labels. */
export const FOCUS_BY = [
  'organization',
  'team',
  'key',
  'provider',
  'model',
  'src',
] as const satisfies RollupDimension[];

interface ChargeTime extends Pick<RollupQuery, 'from' | 'to' | 'step'> {
  readonly days: ZoneDays;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Span = readonly [from: number, to: number];

function chargePeriod({ start, day }: RollupRow, { from, to, step, days }: ChargeTime): Span {
  if (step === 'all') return [from, to];
  if (step === 'hour') return [start, start + HOUR_MS];
  if (day === 'utc') return [start, start + DAY_MS];
  return [start, days.startOf(days.dateOf(start) + DAY_MS)];
}

function billingPeriod(start: number, days: ZoneDays): Span {
  const date = new Date(days.dateOf(start));
  const monthAt = (more: number): number => days.startOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, 1));
  return [monthAt(0), monthAt(1)];
}

const tokensOf = (row: RollupRow): number =>
  [row.input, row.cacheRead, row.cacheWrite5m, row.cacheWrite1h, row.output]
    .concat(row.inputAudio, row.outputAudio, row.inputImage, row.outputImage)
    .reduce((sum, tokens) => sum + tokens, 0);

const isoText = (moment: number): string => new Date(moment).toISOString();
interface Charge {
  readonly organization: string;
  readonly team: string;
  readonly key: string;
  readonly provider: string;
  readonly model: string;
  readonly src: string;
  readonly tags: string;
  readonly from: string;
  readonly to: string;
  readonly monthFrom: string;
  readonly monthTo: string;
  readonly cost: string;
  readonly tokens: number;
  readonly requests: number;
  /** Tries whose cost is not known, and 0 in `cost`. */
  readonly unpriced: number;
}

/** In the order of the alphabet, as the specification lists its columns; those of this gateway begin with `x_`. An empty cell is null. */
const COLUMNS: Readonly<Record<string, (charge: Charge) => string | number | null>> = {
  BilledCost: ({ cost }) => cost,
  BillingAccountId: ({ organization }) => organization || 'gatehouse',
  BillingAccountName: ({ organization }) => organization,
  BillingCurrency: () => 'USD',
  BillingPeriodEnd: ({ monthTo }) => monthTo,
  BillingPeriodStart: ({ monthFrom }) => monthFrom,
  ChargeCategory: () => 'Usage',
  ChargeClass: () => null,
  ChargeDescription: ({ model, provider }) => `Requests to ${model || 'a model'} at ${provider || 'a provider'}`,
  ChargeFrequency: () => 'Usage-Based',
  ChargePeriodEnd: ({ to }) => to,
  ChargePeriodStart: ({ from }) => from,
  ConsumedQuantity: ({ tokens }) => tokens,
  ConsumedUnit: () => 'Tokens',
  ContractedCost: ({ cost }) => cost,
  EffectiveCost: ({ cost }) => cost,
  InvoiceIssuerName: ({ provider }) => provider || 'unknown',
  ListCost: ({ cost }) => cost,
  PricingCategory: () => 'Standard',
  PricingQuantity: ({ tokens }) => tokens,
  PricingUnit: () => 'Tokens',
  ProviderName: ({ provider }) => provider || 'unknown',
  PublisherName: ({ provider }) => provider || 'unknown',
  ResourceId: ({ key }) => key,
  ResourceName: ({ key }) => key,
  ResourceType: ({ key }) => key && 'API Key',
  ServiceCategory: () => 'AI and Machine Learning',
  ServiceName: ({ model }) => model || 'unknown',
  ServiceSubcategory: () => 'Generative AI',
  SkuId: ({ model }) => model,
  SubAccountId: ({ team }) => team,
  SubAccountName: ({ team }) => team,
  Tags: ({ tags }) => tags,
  x_CostSource: ({ src }) => src,
  x_Requests: ({ requests }) => requests,
  x_Unpriced: ({ unpriced }) => unpriced,
};

export const FOCUS_COLUMNS = Object.keys(COLUMNS);

export function focusRow(row: RollupRow, time: ChargeTime): Readonly<Record<string, string | number | null>> {
  const { names, labels, requests, attempts } = row;
  const { organization = '', team = '', key = '', provider = '', model = '', src = '' } = names;
  const [from, to] = chargePeriod(row, time);
  const [monthFrom, monthTo] = billingPeriod(from, time.days);
  const charge: Charge = {
    organization,
    team,
    key,
    provider,
    model,
    src,
    requests,
    tags: JSON.stringify(Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))),
    from: isoText(from),
    to: isoText(to),
    monthFrom: isoText(monthFrom),
    monthTo: isoText(monthTo),
    cost: costText(row.nano),
    tokens: tokensOf(row),
    unpriced: src === 'none' ? attempts : 0,
  };
  return Object.fromEntries(Object.entries(COLUMNS).map(([name, cellOf]) => [name, cellOf(charge)]));
}
