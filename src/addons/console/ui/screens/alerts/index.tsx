import { allOf, api, ask, owns, session, settingsTurn } from '../../api/index.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { address, linkTo, setQuery } from '../../address.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { FEATURES } from '../../parts/features.ts';
import { moment } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { Head } from '../../parts/head.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Tabs, tabOf } from '../../parts/segments.tsx';
import { Command, Empty, Load } from '../../parts/states.tsx';
import { nameColumn, OWNER, stateColumn, textColumn, timeColumn, type Column } from '../../parts/columns.tsx';
import { AddWebhook, WebhookDetail } from './webhook.tsx';

type FiredAlert = ApiSchemas['fired_alert'];
type Webhook = ApiSchemas['alert'];

const TABS = [
  ['fired', 'Fired'],
  ['webhooks', 'Webhooks'],
] as const;

/** The alerts of this gateway with their deliveries, and the webhooks that get them. */
export function Alerts() {
  const add = (): void => setQuery({ tab: 'webhooks', add: '1', row: undefined });
  return (
    <>
      <Head title="Alerts" ruled actions={owns('alerts') && <Button label="Add a webhook" kind="main" onClick={add} />}>
        <Tabs of={TABS} resets={['row']} />
      </Head>
      {tabOf(TABS) === 'fired' ? <Fired /> : <Webhooks />}
    </>
  );
}

const Fired = () => (
  <Load of="fired" read={async (signal) => (await ask(api.GET('/alerts/fired', { params: {}, signal }))).items}>
    {(alerts) => (
      <Rows
        label="Alerts"
        columns={FIRED}
        rows={alerts}
        idOf={({ id }) => id}
        none={
          <Empty title="No alert has fired">
            <p>
              This gateway has raised none since {moment(session.value?.started_at ?? 0)}. Budgets, keys that end and
              models without a price raise some.
            </p>
            <p>
              <ButtonLink label="Test a webhook" href="#/alerts?tab=webhooks" />
            </p>
          </Empty>
        }
        detail={(alert) => <FiredDetail alert={alert} />}
        foot={<p class="table-foot third">Alerts of this gateway since its start, at most 200.</p>}
      />
    )}
  </Load>
);

/** The worst of its deliveries. */
function delivered({ deliveries }: FiredAlert): string {
  const states = deliveries.map(({ state }) => state);
  return (['lost', 'waiting', 'delivered'] as const).find((state) => states.includes(state)) ?? 'no webhook';
}

const FIRED: readonly Column<FiredAlert>[] = [
  timeColumn('When', ({ at }) => at, 'narrow'),
  textColumn('Kind', 120, ({ kind }) => kind, 'both'),
  nameColumn(
    'What',
    [160, 3],
    ({ text }) => text,
    ({ id }) => linkTo({ row: id }),
  ),
  stateColumn('Deliveries', 112, delivered),
];

const FiredDetail = ({ alert: { at, kind, nodes, text, deliveries } }: { readonly alert: FiredAlert }) => (
  <Drawer label="Alert" name="row" title={text}>
    <Facts
      of={[
        ['When', moment(at)],
        ['Kind', kind],
        ['Nodes', nodes.length === 0 ? 'none' : <span class="mono">{nodes.join(' ')}</span>],
      ]}
    />
    {deliveries.length === 0 ? (
      <p class="second">No webhook takes such an alert. The log has it.</p>
    ) : (
      <Grid
        label="Deliveries"
        head={['Webhook', 'State', 'Tries', 'Problem']}
        rows={deliveries.map(({ webhook, state, tries, problem }) => [
          webhook,
          <Chip tone={toneOf(state)}>{state}</Chip>,
          tries,
          problem ?? '',
        ])}
      />
    )}
  </Drawer>
);

const WEBHOOKS: readonly Column<Webhook>[] = [
  nameColumn('Webhook', [100, 1], ({ id }) => id),
  textColumn('Kinds', [140, 2], ({ spec }) => spec.kinds?.join(', ') ?? 'all'),
  textColumn('Nodes', [100, 1.4], ({ spec }) => spec.nodes?.join(', ') ?? 'all', 'both'),
  OWNER,
];

const Webhooks = () => (
  <Load
    of="webhooks"
    read={(signal) => allOf((page) => ask(api.GET('/alerts', { params: { query: page }, signal })))}
    news={settingsTurn.value}
  >
    {(webhooks, reload) => (
      <>
        <Rows
          label="Webhooks"
          columns={WEBHOOKS}
          rows={webhooks}
          idOf={({ id }) => id}
          none={
            <Empty title="No webhook yet">
              <p>A webhook gets alerts as signed requests. These lines of server.yaml make one:</p>
              <Command text={FEATURES.webhooks} label="Lines of server.yaml" />
            </Empty>
          }
          detail={(webhook) => <WebhookDetail key={webhook.id} webhook={webhook} onChange={reload} />}
        />
        {address.value.query.has('add') && <AddWebhook onDone={reload} />}
      </>
    )}
  </Load>
);
