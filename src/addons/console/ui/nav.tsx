import { useEffect } from 'preact/hooks';
import { api } from './api/client.ts';
import { keepHalf, session, signInNeeded } from './api/session.ts';
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

export const PLACES: Readonly<Record<string, readonly Place[]>> = {
  Watch: [
    { path: '/', name: 'Overview', icon: 'overview', key: 'o' },
    { path: '/requests', name: 'Requests', icon: 'requests', key: 'r' },
    { path: '/why', name: 'Why', icon: 'why', key: 'w' },
  ],
  Manage: [
    { path: '/keys', name: 'Keys', icon: 'keys', key: 'k' },
    { path: '/providers', name: 'Providers', icon: 'providers', key: 'p' },
  ],
  Try: [{ path: '/play', name: 'Playground', icon: 'playground', key: 't' }],
};

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
        <NavGroup key={title} title={title} places={places} current={current} />
      ))}
      <Foot />
    </nav>
  );
}

const NavGroup = ({
  title,
  places,
  current,
}: {
  readonly title: string;
  readonly places: readonly Place[];
  readonly current: string;
}) => (
  <>
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
  </>
);

const signOut = (): void => {
  void api.DELETE('/session', { params: {} }).then(() => {
    keepHalf(undefined);
    session.value = undefined;
    signInNeeded.value = true;
    location.reload();
  });
};

function Foot() {
  const now = session.value;
  return (
    <div class="foot">
      <div class="row">
        <button
          type="button"
          class="plain"
          title="Colours: system, light, dark"
          onClick={() => (theme.value = next(['system', 'light', 'dark'], theme.value))}
        >
          {{ system: 'Auto', light: 'Light', dark: 'Dark' }[theme.value]}
        </button>
        <button
          type="button"
          class="plain"
          title="Height of rows"
          onClick={() => (density.value = next(['comfortable', 'compact'], density.value))}
        >
          {density.value === 'compact' ? 'Compact' : 'Roomy'}
        </button>
        <button
          type="button"
          class="plain"
          title="Times in this machine's zone, or in UTC"
          onClick={() => (zone.value = next(['local', 'UTC'], zone.value))}
        >
          {zone.value === 'local' ? `Local, ${offset(Date.now(), 'local')}` : 'UTC'}
        </button>
      </div>
      {now && (
        <>
          <p>v{now.version}</p>
          <p>settings {now.settings_hash.slice(0, 8)}</p>
          <p>
            {now.user} · {now.role}
          </p>
          {now.session && (
            <button type="button" class="plain" onClick={signOut}>
              Sign out
            </button>
          )}
        </>
      )}
    </div>
  );
}
