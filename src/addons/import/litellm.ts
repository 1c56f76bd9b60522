import type { Draft } from './draft.ts';
import { credentialsOf, deploymentOf, type CredentialList } from './litellm-deployments.ts';
import { importKeys, importTeams, type Team } from './litellm-keys.ts';
import { DEPLOYMENT, GENERAL, LITELLM, PAGE, ROUTER, STORED_MODELS } from './litellm-reasons.ts';
import { importGroups, readRouting } from './litellm-routing.ts';
import { defined } from './names.ts';
import type { ForeignFile, ForeignItem } from './source.ts';
import { budgetsOf, whole } from './spending.ts';

/** The organization that gets the budget of the proxy itself. */
const PROXY = 'litellm';

/** Reads files of LiteLLM: config.yaml of its proxy, and what its admin API lists as keys and teams. */
export function importLiteLlm(sources: readonly ForeignFile[], draft: Draft): void {
  const teams = new Map<string, Team>();
  // Keys name their team, so teams come first; models come before both.
  const roots = sources.map(({ root }) => root);
  importModels(roots, draft);
  for (const root of roots) importTeams(listOf(root, 'teams', 'team_id'), draft, teams);
  for (const root of roots) importKeys(listOf(root, 'keys', 'token'), draft, teams);
  const pages = roots.filter((root) => !isConfig(root) && root.has('keys'));
  for (const root of pages) importPage(root, 'keys', pages);
  for (const root of roots) if (!isConfig(root) && !isList(root)) root.rest();
  // A budget of the proxy holds for all keys: they belong to teams of one organization.
  if (draft.organizations[PROXY]) underOneOrganization(draft);
}

const isConfig = (root: ForeignItem): boolean =>
  ['model_list', 'litellm_settings', 'router_settings', 'general_settings', 'credential_list'].some((key) =>
    root.has(key),
  );

const isModelList = (root: ForeignItem): boolean =>
  root
    .get('data')
    ?.items()
    .some((item) => item.has('litellm_params')) === true;

const isList = (root: ForeignItem): boolean => Array.isArray(root.value);

/** `{ keys: [...] }`, or a list whose items have `mark`. */
function listOf(root: ForeignItem, key: string, mark: string): readonly ForeignItem[] {
  if (!isList(root)) return isConfig(root) ? [] : (root.get(key)?.items() ?? []);
  const items = root.items();
  const isOf = (item: ForeignItem): boolean => item.has(mark) && (mark === 'token' || !item.has('token'));
  return items.filter(isOf);
}

function importModels(roots: readonly ForeignItem[], draft: Draft): void {
  const configs = roots.filter(isConfig);
  const lists = roots.filter(isModelList);
  const credentials = credentialsOf(roots);
  // The admin API lists the models of the config too.
  const stored = lists
    .flatMap((root) => root.get('data')!.items())
    .filter((item) => configs.length === 0 || item.get('model_info')?.get('db_model')?.value !== false);
  for (const [index, root] of configs.entries()) {
    importConfig(root, draft, { credentials, stored: index === 0 ? stored : [], hasStored: lists.length > 0 });
  }
  if (configs.length === 0)
    importGroups(
      stored.flatMap((item) => deploymentOf(item, draft, { credentials, environment: undefined }) ?? []),
      readRouting(undefined, undefined, draft),
      draft,
    );
  for (const root of lists) importPage(root, 'data', lists);
}

interface ModelSources {
  readonly credentials: CredentialList;
  readonly stored: readonly ForeignItem[];
  readonly hasStored: boolean;
}

function importConfig(root: ForeignItem, draft: Draft, { credentials, stored, hasStored }: ModelSources): void {
  const litellm = root.get('litellm_settings');
  const router = root.get('router_settings');
  const general = root.get('general_settings');
  const items = [...(root.get('model_list')?.items() ?? []), ...stored];
  const environment = root.get('environment_variables');
  const address = addressOf(litellm, router);
  const deployments = items.flatMap((item) => deploymentOf(item, draft, { credentials, environment, address }) ?? []);
  importGroups(deployments, readRouting(litellm, router, draft), draft);
  if (litellm) importLiteLlmSettings(litellm, draft);
  router?.rest(ROUTER);
  if (hasStored || general?.get('store_model_in_db')?.value !== true) general?.get('store_model_in_db');
  else general.get('store_model_in_db')?.lose(STORED_MODELS);
  if (general) importGeneral(general, draft);
  for (const [name, item] of environment?.entries() ?? [])
    draft.variable(name, 'a variable of the file', { place: item.place });
  root.rest();
}

/** The address of models that have none of their own. */
function addressOf(litellm: ForeignItem | undefined, router: ForeignItem | undefined): ForeignItem | undefined {
  const defaults = router?.get('default_litellm_params');
  const written = [defaults?.get('api_base'), defaults?.get('base_url'), litellm?.get('api_base')];
  const [first, ...others] = written.filter((item) => item !== undefined && item.value !== '');
  first?.lose('is the address of each model that has none of its own: are all of them at that host?');
  for (const other of others) other?.lose(`is not used: the address at ${first?.place} comes first`);
  defaults?.rest(DEPLOYMENT, { reason: 'write it in the entries and configs of the models', weight: 'decide' });
  return first;
}

/** One page of what the admin API lists, of which all pages may be here. */
function importPage(root: ForeignItem, key: string, pages: readonly ForeignItem[]): void {
  const total = root.get('total_count')?.value;
  const here = pages.reduce((sum, page) => sum + (page.get(key)?.items().length ?? 0), 0);
  if (typeof total === 'number' && here < total)
    root.get('total_count')?.lose(`only ${here} of ${total} are here: import all pages`, 'guard');
  for (const name of PAGE) root.get(name);
}

function importLiteLlmSettings(litellm: ForeignItem, draft: Draft): void {
  const budgets = litellm.has('max_budget') ? budgetsOf(litellm) : undefined;
  if (budgets) draft.organizations[PROXY] = { budgets };
  // Losses are reported to the caller, as `drop_params: true` has it.
  if (litellm.get('drop_params')?.value === false)
    litellm.get('drop_params')?.lose(LITELLM['drop_params']!.reason, 'check');
  litellm.rest(LITELLM);
}

function importGeneral(general: ForeignItem, draft: Draft): void {
  const master = general.get('master_key');
  const key = master && draft.secret(master, 'LITELLM_MASTER_KEY', 'the master key, as a gateway key without limits');
  if (key !== undefined) {
    draft.keys.push({ id: 'master', key });
    draft.notes.push(
      'The key `master` may use everything, as the master key of LiteLLM; it administers nothing here. Restrict or remove it.',
    );
  }
  const limits = defined({
    in_flight: whole(general.get('global_max_parallel_requests')),
    body: megabytes(general.get('max_request_size_mb')),
  });
  if (Object.keys(limits).length > 0) draft.server['limits'] = limits;
  general.get('max_parallel_requests')?.lose('write `limits: { concurrency }` of each key', 'guard');
  general.rest(GENERAL);
}

const megabytes = (item: ForeignItem | undefined): string | undefined => {
  const number = whole(item);
  return number === undefined ? undefined : `${number}MiB`;
};

function underOneOrganization(draft: Draft): void {
  draft.teams['others'] = {};
  for (const [id, team] of Object.entries(draft.teams)) draft.teams[id] = { organization: PROXY, ...team };
  for (const [index, key] of draft.keys.entries())
    if (key['team'] === undefined) draft.keys[index] = { ...key, team: 'others' };
}
