import { useMemo } from 'preact/hooks';
import { download, MAX_ITEMS, session, settingsTurn, useAction } from '../../api/index.ts';
import type { BudgetObject } from '../../api/shapes.ts';
import { address, setQuery, writeAddress } from '../../address.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { BudgetBar, spentShare } from '../../parts/budget-bar.tsx';
import { Figures } from '../../parts/facts.tsx';
import { count, NONE, short, usd } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Head } from '../../parts/head.tsx';
import { zone } from '../../parts/prefs.ts';
import { Segments, Tabs, tabOf } from '../../parts/segments.tsx';
import { Empty, Load, Problem } from '../../parts/states.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { PromptCacheView } from './cache.tsx';
import { Days } from './days.tsx';
import {
  barsOf,
  changeText,
  dayZone,
  isMonth,
  monthAfter,
  monthAt,
  MOST_PARTS,
  nextSplit,
  placeOf,
  SPLITS,
  sum,
  tokensOf,
  type CostRow,
  type Split,
  type UsageRow,
} from './figures.ts';
import { loadCosts, queryOf, type CostFilters, type CostQuestion, type Costs } from './load.ts';
import { AddPrice } from './price.tsx';

const MAX_BUDGETS = 8;
const MAX_ROWS = 200;

const TABS = [
  ['spend', 'Spend'],
  ['cache', 'Prompt cache'],
] as const;

/** The costs of a month, by who caused them and for which models. */
export function Cost() {
  const isSpend = tabOf(TABS) === 'spend';
  const hasStore = session.value?.features.store === true;
  const question = questionOf(address.value.query);
  return (
    <>
      <Head title="Cost" actions={<Tabs label="View" of={TABS} />}>
        {isSpend && hasStore && <Choose question={question} />}
      </Head>
      <div class="body stack">
        {!isSpend ? (
          <PromptCacheView />
        ) : hasStore ? (
          <Spend question={question} />
        ) : (
          <TurnOn feature="store">No store: costs are not kept. Keep a store</TurnOn>
        )}
      </div>
    </>
  );
}

const SPLIT_LABELS = 'label.';

/** The dimensions that costs can be split and filtered by. */
const splits = (): readonly Split[] => [
  ...SPLITS,
  ...(session.value?.features.labels ?? []).map((label): Split => `${SPLIT_LABELS}${label}`),
];

function questionOf(query: URLSearchParams): CostQuestion {
  const year = new Date().getFullYear();
  const offsets = [0, 6].map((month) => new Date(year, month, 1).getTimezoneOffset());
  const timeZone = dayZone(zone.value, Intl.DateTimeFormat().resolvedOptions().timeZone, offsets);
  const month = query.get('month');
  const filters = Object.fromEntries(
    splits().flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])),
  );
  return {
    month: isMonth(month) ? month : monthAt(Date.now(), timeZone),
    by: splits().find((one) => one === query.get('by')) ?? 'team',
    filters,
    timeZone,
  };
}

const splitName = (split: Split): string => split.replace(SPLIT_LABELS, '');

/** Month, split and filters. */
function Choose({ question: { month, by, filters, timeZone } }: { readonly question: CostQuestion }) {
  const now = monthAt(Date.now(), timeZone);
  return (
    <div class="row">
      <Button label="‹" name="The month before" onClick={() => setQuery({ month: monthAfter(month, -1) })} />
      <span class="strong mono">{month}</span>
      <button
        type="button"
        aria-label="The month after"
        disabled={month >= now}
        onClick={() => setQuery({ month: monthAfter(month, 1) })}
      >
        ›
      </button>
      <span class="third">days in {timeZone}</span>
      <Segments
        label="Split by"
        of={splits().map((split) => [split, splitName(split)])}
        chosen={by}
        onChoose={(split) => setQuery({ by: split === 'team' ? undefined : split })}
      />
      {Object.entries(filters).map(([name, value]) => (
        <Button
          key={name}
          label={`${splitName(name as Split)}: ${value} ×`}
          name={`Remove the filter ${name} ${value}`}
          onClick={() => setQuery({ [name]: undefined })}
        />
      ))}
    </div>
  );
}

const Spend = ({ question }: { readonly question: CostQuestion }) => (
  <Load of={JSON.stringify(question)} read={(signal) => loadCosts(question, signal)} news={settingsTurn.value}>
    {(costs, reload) => <Found question={question} costs={costs} reload={reload} />}
  </Load>
);

interface FoundProps {
  readonly question: CostQuestion;
  readonly costs: Costs;
  readonly reload: () => void;
}

function Found({ question, costs, reload }: FoundProps) {
  const { month, by, filters } = question;
  const { rows, days, before } = costs;
  const bars = useMemo(() => barsOf(month, costs, by), [costs]);
  const total = sum(days, ({ nano }) => nano);
  const utc = bars.filter(({ isUtc }) => isUtc);
  if (rows.length === 0) return <NoCost month={month} isFiltered={Object.keys(filters).length > 0} />;
  return (
    <div class="stack">
      <Unpriced rows={costs.unpriced} reload={reload} />
      <Figures
        layout="six"
        of={[
          // Without a price nothing is added: no spend is not known to be none.
          ['spend', usd(total / 1e9 || undefined)],
          ['change', changeText(total, before || undefined)],
          ['requests', count(sum(days, ({ requests }) => requests))],
          ['tokens', short(sum(days, tokensOf))],
        ]}
      />
      <div class="cost">
        <div class="stack">
          <Days bars={bars} rows={rows} />
          <Rows question={question} rows={rows} total={total} />
        </div>
        <div class="stack">
          <Budgets budgets={costs.budgets} filters={filters} />
          <Files question={question} />
        </div>
      </div>
      {utc.length > 0 && (
        <p class="third">
          Days to {utc.at(-1)?.date} are UTC days: their hours are not kept any more (retention.hour_days).
        </p>
      )}
    </div>
  );
}

const NoCost = ({ month, isFiltered }: { readonly month: string; readonly isFiltered: boolean }) => (
  <Empty title={`No cost in ${month}`}>
    <p>{isFiltered ? 'No request of the month fits the filter.' : 'No request of the month cost something.'}</p>
    {isFiltered && (
      <p>
        <ButtonLink label="Clear the filter" href={`#/cost?month=${month}`} />
      </p>
    )}
  </Empty>
);

/** Costs that are not in any sum come first. */
function Unpriced({ rows, reload }: { readonly rows: readonly UsageRow[]; readonly reload: () => void }) {
  const asked = placeOf(address.value.query.get('price'));
  const close = (): void => setQuery({ price: undefined });
  return (
    <section class="stack tight" aria-label="Models without a price">
      {rows.map(({ provider = '', model = '', attempts }) => (
        <p key={`${provider} ${model}`} class="notice warning row">
          <span class="grow">
            {model || 'A model'} at @{provider} has no price: the cost of {count(attempts)}{' '}
            {attempts === 1 ? 'try' : 'tries'} is unknown, and in no sum.
          </span>
          <Button label="Add price" onClick={() => setQuery({ price: `@${provider}/${model}` }, false)} />
        </p>
      ))}
      {asked && (
        <AddPrice
          {...asked}
          onClose={close}
          onDone={() => {
            close();
            reload();
          }}
        />
      )}
    </section>
  );
}

function linkOf({ by, month, filters }: CostQuestion, name: string): string | undefined {
  const next = nextSplit(by);
  if (name === '' || name === '__other__') return undefined;
  const query = new URLSearchParams({ ...filters, [by]: name });
  if (next === undefined) return writeAddress('/requests', query);
  query.set('month', month);
  query.set('by', next);
  return writeAddress('/cost', query);
}

interface RowsProps {
  readonly question: CostQuestion;
  readonly rows: readonly CostRow[];
  readonly total: number;
}

function Rows({ question, rows, total }: RowsProps) {
  const cell = ({ name }: CostRow, at: number) => {
    const href = linkOf(question, name);
    return (
      <span class="row cost-name">
        <i class={`swatch part-${Math.min(at, MOST_PARTS)}`} />
        {href === undefined ? <span>{name === '' ? 'none' : 'others'}</span> : <a href={href}>{name}</a>}
      </span>
    );
  };
  return (
    <section class="card" aria-label="Costs">
      <Grid
        label={`Cost by ${splitName(question.by)}`}
        head={[splitName(question.by), 'Cost', 'Share', 'Change', 'Requests', 'Tokens']}
        rows={rows
          .slice(0, MAX_ROWS)
          .map((row, at) => [
            cell(row, at),
            usd(row.nano / 1e9 || undefined),
            total > 0 ? `${Math.round((row.nano / total) * 1000) / 10} %` : NONE,
            changeText(row.nano, row.before),
            count(row.requests),
            short(row.tokens),
          ])}
      />
      {rows.length > MAX_ROWS && (
        <p class="third">
          and {count(rows.length - MAX_ROWS)} more
          {rows.length >= MAX_ITEMS && `, of the first ${count(MAX_ITEMS)}: the file has all`}
        </p>
      )}
    </section>
  );
}

function Budgets({ budgets, filters }: { readonly budgets: readonly BudgetObject[]; readonly filters: CostFilters }) {
  const nodes = (['team', 'key'] as const).flatMap((kind) =>
    filters[kind] === undefined ? [] : [`${kind}:${filters[kind]}`],
  );
  const shown = budgets
    .filter(({ node }) => nodes.length === 0 || nodes.includes(node))
    .toSorted((one, other) => (spentShare(other) ?? 0) - (spentShare(one) ?? 0));
  return (
    <section class="card stack tight" aria-label="Budgets">
      <h2 class="small">Budgets</h2>
      {shown.length === 0 && <p class="second">None.</p>}
      {shown.slice(0, MAX_BUDGETS).map((budget) => (
        <div key={budget.id}>
          <p class="cut" title={budget.name}>
            {budget.name}
          </p>
          <BudgetBar budget={budget} />
        </div>
      ))}
      {shown.length > MAX_BUDGETS && <p class="third">and {count(shown.length - MAX_BUDGETS)} more</p>}
      <p>
        <a href="#/keys">All budgets</a>
      </p>
    </section>
  );
}

function Files({ question }: { readonly question: CostQuestion }) {
  const { month, by } = question;
  const file = (format: 'csv' | 'focus', name: string) =>
    useAction(() => {
      const query = { ...queryOf(question), ...(format === 'csv' && { by }), step: 'day', format };
      return download('/usage', new URLSearchParams(query), `${name}-${month}.csv`);
    });
  const [csv, focus] = [file('csv', 'cost'), file('focus', 'focus')];
  const error = csv.error.value ?? focus.error.value;
  return (
    <section class="card stack tight" aria-label="Files">
      <h2 class="small">As a file</h2>
      <p class="row">
        <Button label="CSV" doing={csv} />
        <Button label="CSV with FOCUS columns" doing={focus} />
      </p>
      {error && <Problem error={error} />}
    </section>
  );
}
