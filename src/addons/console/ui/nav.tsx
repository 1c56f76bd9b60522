import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from './parts/button.tsx';
import { api, keepHalf, session, signInNeeded } from './api/index.ts';
import { address } from './address.ts';
import { offset } from './parts/format.ts';
import { Icon, Mark, type IconName } from './parts/icons.tsx';
import { density, next, theme, zone } from './parts/prefs.ts';

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** Goes there behind `g`. */
  readonly key: string;
}

const PLACES: Readonly<Record<string, readonly Place[]>> = {
  Watch: [
    { path: '/', name: 'Overview', icon: 'overview', key: 'o' },
    { path: '/requests', name: 'Requests', icon: 'requests', key: 'r' },
    { path: '/why', name: 'Why', icon: 'why', key: 'w' },
    { path: '/alerts', name: 'Alerts', icon: 'alerts', key: 'a' },
    { path: '/cost', name: 'Cost', icon: 'cost', key: 's' },
  ],
  Manage: [
    { path: '/keys', name: 'Keys', icon: 'keys', key: 'k' },
    { path: '/providers', name: 'Providers', icon: 'providers', key: 'p' },
    { path: '/configs', name: 'Configs', icon: 'configs', key: 'c' },
    { path: '/prompts', name: 'Prompts', icon: 'prompts', key: 'm' },
    { path: '/plugins', name: 'Plugins', icon: 'plugins', key: 'n' },
  ],
  Govern: [
    { path: '/people', name: 'People', icon: 'people', key: 'e' },
    { path: '/audit', name: 'Audit', icon: 'audit', key: 'u' },
  ],
  Try: [{ path: '/play', name: 'Playground', icon: 'playground', key: 't' }],
};

export const ALL_PLACES: readonly Place[] = Object.values(PLACES).flat();

/** `/requests/ID/why` belongs to Why. */
export function placeOf(path: string): string {
  if (path.endsWith('/why')) return '/why';
  const [, first = ''] = path.split('/');
  return `/${first}`;
}

export function Nav() {
  const current = placeOf(address.value.path);
  useEffect(() => {
    // A narrow page has the places in a bar that scrolls.
    document.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav class="nav" aria-label="Console">
      <a class="brand" href="#/" aria-label="Gatehouse">
        <Mark />
        <span>Gatehouse</span>
      </a>
      {Object.entries(PLACES).map(([title, places]) => (
        <Fragment key={title}>
          <h2>{title}</h2>
          <ul>
            {places.map(({ path, name, icon }) => (
              <li key={path}>
                <a href={`#${path}`} aria-current={path === current ? 'page' : undefined}>
                  <Icon name={icon} />
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </Fragment>
      ))}
      <Foot />
    </nav>
  );
}

/** Also without an answer: the half that is left opens nothing. */
async function signOut(): Promise<void> {
  await api.DELETE('/session', { params: {} }).catch(() => {});
  keepHalf(null);
  session.value = undefined;
  signInNeeded.value = true;
  location.reload();
}

const Switch = (props: { readonly title: string; readonly word: string; readonly onClick: () => void }) => (
  <Button label={props.word} kind="plain" title={props.title} onClick={props.onClick} />
);

function Foot() {
  const now = session.value;
  return (
    <div class="foot">
      <div class="row">
        <Switch
          title="Colours: system, light, dark"
          word={{ system: 'Auto', light: 'Light', dark: 'Dark' }[theme.value]}
          onClick={() => (theme.value = next(['system', 'light', 'dark'], theme.value))}
        />
        <Switch
          title="Height of rows"
          word={density.value === 'compact' ? 'Compact' : 'Roomy'}
          onClick={() => (density.value = next(['comfortable', 'compact'], density.value))}
        />
        <Switch
          title="Times in this machine's zone, or in UTC"
          word={zone.value === 'local' ? `Local, ${offset(Date.now(), 'local')}` : 'UTC'}
          onClick={() => (zone.value = next(['local', 'UTC'], zone.value))}
        />
      </div>
      {now && (
        <>
          <p>v{now.version}</p>
          <p>settings {now.settings_hash.slice(0, 8)}</p>
          {now.features.store && <p title="The gateway that answers">{now.replica}</p>}
          <p>
            {now.user} · {now.role}
          </p>
          {now.session && <Switch title="End the session" word="Sign out" onClick={() => void signOut()} />}
          {!now.session && now.features.store && (
            <Switch title="With an admin token" word="Sign in" onClick={() => (signInNeeded.value = true)} />
          )}
        </>
      )}
    </div>
  );
}
