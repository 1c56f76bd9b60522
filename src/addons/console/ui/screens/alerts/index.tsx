import { api, ask } from '../../api/client.ts';
import { settingsTurn } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { allOf } from '../../api/pages.ts';
import { owns, session } from '../../api/session.ts';
import type { ApiSchemas } from '../../api/shapes.ts';
import { address, linkTo, setQuery } from '../../address.ts';
import { Chip, toneOf } from '../../parts/chip.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { moment } from '../../parts/format.ts';
import { Grid } from '../../parts/grid.tsx';
import { zone } from '../../parts/prefs.ts';
import { Rows } from '../../parts/rows.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Command, Empty, Loads } from '../../parts/states.tsx';
import { OWNER, type Column } from '../../parts/table.tsx';
import { AddWebhook, WEBHOOK_LINES } from './add.tsx';
import { WebhookDetail } from './webhook.tsx';

type FiredAlert = ApiSchemas['fired_alert'];
type Webhook = ApiSchemas['alert'];

/** The alerts of this gateway with their deliveries, and the webhooks that get them. */
export function Alerts() {
  const { query } = address.value;
  const tab = query.get('tab') === 'webhooks' ? 'webhooks' : 'fired';
  return (
    <>
      <header class="head ruled">
        <div class="row">
          <h1 class="grow">Alerts</h1>
          {owns('alerts') && (
            <button type="button" class="main" onClick={() => setQuery({ tab: 'webhooks', add: '1', row: undefined })}>
              Add a webhook
            </button>
          )}
        </div>
        <Segments
          label="Shown"
          of={[
            ['fired', 'Fired'],
            ['webhooks', 'Webhooks'],
          ]}
          chosen={tab}
          onChoose={(name) => setQuery({ tab: name, row: undefined })}
        />
      </header>
      {tab === 'fired' ? <Fired /> : <Webhooks />}
    </>
  );
}

function Fired() {
  const load = useLoad('fired', async (signal) => (await ask(api.GET('/alerts/fired', { params: {}, signal }))).items);
  return (
    <Loads state={load.state.value} retry={load.reload}>
      {(alerts) => (
        <Rows
          label="Alerts"
          layout="fired"
          columns={FIRED}
          rows={alerts}
          idOf={({ id }) => id}
          none={
            <Empty title="No alert has fired">
              <p>
                This gateway has raised none since {moment(session.value?.started_at ?? 0, zone.value)}. Budgets, keys
                that end and models without a price raise some.
              </p>
              <p>
                <a class="button" href="#/alerts?tab=webhooks">
                  Test a webhook
                </a>
              </p>
            </Empty>
          }
          detail={(alert) => <FiredDetail alert={alert} />}
          foot={<p class="table-foot third">Alerts of this gateway since its start, at most 200.</p>}
        />
      )}
    </Loads>
  );
}

/** The worst of its deliveries. */
function delivered({ deliveries }: FiredAlert): string {
  const states = deliveries.map(({ state }) => state);
  return (['lost', 'waiting', 'delivered'] as const).find((state) => states.includes(state)) ?? 'no webhook';
}

const FIRED: readonly Column<FiredAlert>[] = [
  { name: 'at', label: 'When', cell: ({ at }) => <span class="mono third">{moment(at, zone.value)}</span> },
  { name: 'kind', label: 'Kind', cell: ({ kind }) => kind },
  {
    name: 'text',
    label: 'What',
    title: ({ text }) => text,
    cell: ({ id, text }) => <a href={linkTo({ row: id })}>{text}</a>,
  },
  {
    name: 'delivered',
    label: 'Deliveries',
    cell: (alert) => <Chip tone={toneOf(delivered(alert))}>{delivered(alert)}</Chip>,
  },
];

const FiredDetail = ({ alert: { at, kind, nodes, text, deliveries } }: { readonly alert: FiredAlert }) => (
  <Drawer label="Alert" name="row" head={<h2>{text}</h2>}>
    <Facts
      of={[
        ['When', moment(at, zone.value)],
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
  {
    name: 'name',
    label: 'Webhook',
    title: ({ id }) => id,
    cell: ({ id }) => <a href={linkTo({ row: id })}>{id}</a>,
  },
  { name: 'kinds', label: 'Kinds', cell: ({ spec }) => spec.kinds?.join(' ') ?? 'all' },
  { name: 'nodes', label: 'Nodes', cell: ({ spec }) => spec.nodes?.join(' ') ?? 'all' },
  OWNER,
];

function Webhooks() {
  const read = (signal: AbortSignal) => allOf((page) => ask(api.GET('/alerts', { params: { query: page }, signal })));
  const load = useLoad('webhooks', read, settingsTurn.value);
  return (
    <>
      <Loads state={load.state.value} retry={load.reload}>
        {(webhooks) => (
          <Rows
            label="Webhooks"
            layout="webhooks"
            columns={WEBHOOKS}
            rows={webhooks}
            idOf={({ id }) => id}
            none={
              <Empty title="No webhook yet">
                <p>A webhook gets alerts as signed requests. These lines of server.yaml make one:</p>
                <Command text={WEBHOOK_LINES} label="Lines of server.yaml" />
              </Empty>
            }
            detail={(webhook) => <WebhookDetail key={webhook.id} webhook={webhook} onChange={load.reload} />}
          />
        )}
      </Loads>
      {address.value.query.has('add') && <AddWebhook onDone={load.reload} />}
    </>
  );
}
