import { signal } from '@preact/signals';
import { render, type ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, followAddress, go, partOf } from './address.ts';
import { api, ApiRefusal, ask, resume, session, settingsTurn, signInNeeded, startLive, useLoad } from './api/index.ts';
import { Help } from './help.tsx';
import { ALL_PLACES, Nav, placeOf } from './nav.tsx';
import { Head } from './parts/head.tsx';
import { Guarded, lazily } from './parts/lazy.tsx';
import { Palette } from './palette.tsx';
import { applyPrefs } from './parts/prefs.ts';
import { startPrefix, useKeys } from './parts/shortcuts.ts';
import { Empty, Problem, Skeleton } from './parts/states.tsx';
import { Requests } from './screens/requests/index.tsx';
import { SignIn } from './sign-in.tsx';

const Why = lazily<{ readonly id: string }>(async () => (await import('./screens/why/index.tsx')).Why);

const SCREENS = new Map<string, ComponentType>([
  ['/', lazily(async () => (await import('./screens/overview/index.tsx')).Overview)],
  ['/requests', Requests],
  ['/providers', lazily(async () => (await import('./screens/providers/index.tsx')).Providers)],
  ['/cost', lazily(async () => (await import('./screens/cost/index.tsx')).Cost)],
  ['/keys', lazily(async () => (await import('./screens/keys/index.tsx')).Keys)],
  ['/alerts', lazily(async () => (await import('./screens/alerts/index.tsx')).Alerts)],
  ['/audit', lazily(async () => (await import('./screens/audit/index.tsx')).Audit)],
  ['/people', lazily(async () => (await import('./screens/people/index.tsx')).People)],
  ['/configs', lazily(async () => (await import('./screens/configs/index.tsx')).Configs)],
  ['/play', lazily(async () => (await import('./screens/play/index.tsx')).Playground)],
  ['/plugins', lazily(async () => (await import('./screens/plugins/index.tsx')).Plugins)],
  ['/prompts', lazily(async () => (await import('./screens/prompts/index.tsx')).Prompts)],
]);

/** The dialog over the page: the list of keys, or the palette. */
const over = signal<'help' | 'palette' | undefined>(undefined);
const close = (): void => void (over.value = undefined);

function App() {
  // Who calls, and again when the settings have changed: rights and features may be others.
  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      resume(await ask(api.GET('/session', { params: {}, signal })));
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.status !== 401) throw error;
      signInNeeded.value = true;
    }
  };
  const load = useLoad('session', read, settingsTurn.value);
  useEffect(() => {
    if (session.value) startLive();
  }, [session.value]);
  useKeys({
    g: () => startPrefix('g'),
    '?': () => (over.value = 'help'),
    'Ctrl k': () => (over.value = 'palette'),
    ...Object.fromEntries(ALL_PLACES.map(({ key, path }) => [`g ${key}`, () => go(path)])),
  });
  const { error } = load.state.value;
  return (
    <div class="app">
      <Nav />
      <main class="page">
        {error && <Problem error={error} retry={load.reload} />}
        {session.value ? (
          <Guarded key={address.value.path}>
            <Screen />
          </Guarded>
        ) : (
          !error && (
            <div class="body">
              <Skeleton />
            </div>
          )
        )}
      </main>
      {signInNeeded.value && <SignIn />}
      {over.value === 'help' && <Help onClose={close} />}
      {over.value === 'palette' && <Palette onClose={close} />}
    </div>
  );
}

function Screen() {
  const { path } = address.value;
  useEffect(() => {
    const place = ALL_PLACES.find((one) => one.path === placeOf(path));
    document.title = `${place?.name ?? 'Console'} · Gatehouse`;
  }, [path]);
  const [isWhy, id = ''] = /^(?:\/requests\/([^/]+))?\/why$/.exec(path) ?? [];
  if (isWhy !== undefined) return <Why key={id} id={partOf(id)} />;
  const Found = SCREENS.get(path);
  if (Found) return <Found />;
  return (
    <>
      <Head title="Not found" />
      <Empty title="There is nothing at this address">
        <p>
          <a href="#/">Go to the overview</a>
        </p>
      </Empty>
    </>
  );
}

followAddress();
applyPrefs();
render(<App />, document.body);
