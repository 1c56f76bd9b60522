import { variableOf, type Draft, type DraftPart } from './draft.ts';
import { metadataOf } from './litellm-keys.ts';
import { defined, nameOf } from './names.ts';
import { weighed, type ForeignItem, type Reasons } from './source.ts';
import { alertsAt, capOf, periodOf, whole } from './spending.ts';

const REASONS: Reasons = {
  ...weighed('guard', { scopes: 'write `models`, `providers` and `configs` of the key; keys administer nothing' }),
  ...weighed('check', {
    organisation_id: 'write `organization` of a team',
    workspace_id: 'write `team` of the key',
    user_id: 'there are no users; `owner` of a key names a person',
    alert_emails: 'alerts are rules on metrics: configs/observability/alerts.yaml',
  }),
};

/** A key of a list of Portkey's admin API, which never has the key itself. */
export function importPortkeyKeys(item: ForeignItem, draft: Draft, ids: ReadonlyMap<string, string>): void {
  const status = item.get('status')?.value;
  if (typeof status === 'string' && status !== 'active') {
    item.lose(`is ${nameOf(status)}: it is not imported`, 'guard');
    return;
  }
  const name = nameOf((item.get('name') ?? item.get('id'))?.text() ?? 'key');
  const id = draft.keys.some((key) => key['id'] === name) ? `${name}-${draft.keys.length + 1}` : name;
  for (const key of ['id', 'object', 'type', 'key', 'created_at', 'last_updated_at', 'description']) item.get(key);
  const defaults = item.get('defaults');
  const config = defaults?.get('config_id');
  const written = config?.text();
  const wanted = written === undefined ? undefined : ids.get(written);
  if (written !== undefined && wanted === undefined) config?.lose('names a config that is in none of the files');
  const variable = variableOf(`${id}_KEY`);
  draft.keys.push(
    defined({
      id,
      key: draft.variable(variable, `the key ${id}: its present one, which the list does not have, or a new one`),
      expires_at: item.get('expires_at')?.text(),
      metadata: metadataOf(defaults?.get('metadata')),
      budgets: budgetsOf(item.get('usage_limits')),
      limits: limitsOf(item.get('rate_limits')),
      default_config: wanted,
    }),
  );
  defaults?.rest();
  item.rest(REASONS);
}

function budgetsOf(item: ForeignItem | undefined): readonly DraftPart[] | undefined {
  // One limit, or a list of them.
  const all = item && Array.isArray(item.value) ? item.items() : item ? [item] : [];
  const budgets = all.flatMap((limit) => {
    const period = periodOf(limit.get('periodic_reset'));
    const isTokens = limit.get('type')?.value === 'tokens';
    const amount = limit.get('credit_limit');
    const cap = isTokens ? tokensOf(amount) : capOf(amount);
    const alert = limit.get('alert_threshold')?.number() ?? 0;
    limit.rest(REASONS);
    if (period === undefined || cap === undefined) return [];
    return [{ cap, period, ...alertsAt(alert, Number(amount?.value)) }];
  });
  return budgets.length > 0 ? budgets : undefined;
}

const tokensOf = (item: ForeignItem | undefined): string | undefined => {
  const number = whole(item);
  return number === undefined ? undefined : `${number} tokens`;
};

const UNITS: Readonly<Record<string, string>> = { rps: 's', rpm: 'min', rph: 'h' };

function limitsOf(item: ForeignItem | undefined): DraftPart | undefined {
  const limits: Record<string, string> = {};
  for (const rate of item?.items() ?? []) {
    const [type, unit, value] = [rate.get('type')?.text(), rate.get('unit')?.text() ?? '', whole(rate.get('value'))];
    const per = UNITS[unit];
    if (per === undefined)
      rate
        .get('unit')
        ?.lose('is no unit of a rate here, so this limit is not in force: write `limits` per s, min or h', 'guard');
    else if (value !== undefined) limits[type === 'tokens' ? 'tokens' : 'requests'] = `${value}/${per}`;
    rate.rest();
  }
  return Object.keys(limits).length > 0 ? limits : undefined;
}
