import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Route, Router, Switch } from 'wouter-preact';
import { address, followAddress, go, usePage } from './address.ts';
import { api, ask, ApiRefusal } from './api/client.ts';
import { startLive, settingsTurn } from './api/live.ts';
import { useLoad } from './api/load.ts';
import { resume, session, signInNeeded } from './api/session.ts';
import { Help } from './help.tsx';
import { ALL_PLACES, Nav, placeOf } from './nav.tsx';
import { lazily } from './parts/lazy.tsx';
import { Palette } from './palette.tsx';
import { applyPrefs } from './parts/prefs.ts';
import { startPrefix, useKeys } from './parts/shortcuts.ts';
import { Empty, Problem, Skeleton } from './parts/states.tsx';
import { Requests } from './screens/requests/index.tsx';
import { SignIn } from './sign-in.tsx';

const Overview = lazily(async () => (await import('./screens/overview/index.tsx')).Overview);
const Why = lazily<{ readonly id: string }>(async () => (await import('./screens/why/index.tsx')).Why);
const Providers = lazily(async () => (await import('./screens/providers/index.tsx')).Providers);
const Cost = lazily(async () => (await import('./screens/cost/index.tsx')).Cost);
const Keys = lazily(async () => (await import('./screens/keys/index.tsx')).Keys);
const Alerts = lazily(async () => (await import('./screens/alerts/index.tsx')).Alerts);
const Audit = lazily(async () => (await import('./screens/audit/index.tsx')).Audit);
const People = lazily(async () => (await import('./screens/people/index.tsx')).People);
const Configs = lazily(async () => (await import('./screens/configs/index.tsx')).Configs);
const Playground = lazily(async () => (await import('./screens/play/index.tsx')).Playground);
const Plugins = lazily(async () => (await import('./screens/plugins/index.tsx')).Plugins);
const Prompts = lazily(async () => (await import('./screens/prompts/index.tsx')).Prompts);

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
          <Screens />
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

function Screens() {
  const { path } = address.value;
  useEffect(() => {
    const place = ALL_PLACES.find((one) => one.path === placeOf(path));
    document.title = `${place?.name ?? 'Console'} · Gatehouse`;
  }, [path]);
  return (
    <Router hook={usePage}>
      <Switch>
        <Route path="/">
          <Overview />
        </Route>
        <Route path="/requests">
          <Requests />
        </Route>
        <Route path="/requests/:id/why">{({ id }) => <Why key={id} id={decodeURIComponent(id)} />}</Route>
        <Route path="/why">
          <Why id="" />
        </Route>
        <Route path="/cost">
          <Cost />
        </Route>
        <Route path="/providers">
          <Providers />
        </Route>
        <Route path="/keys">
          <Keys />
        </Route>
        <Route path="/prompts">
          <Prompts />
        </Route>
        <Route path="/alerts">
          <Alerts />
        </Route>
        <Route path="/plugins">
          <Plugins />
        </Route>
        <Route path="/people">
          <People />
        </Route>
        <Route path="/audit">
          <Audit />
        </Route>
        <Route path="/configs">
          <Configs />
        </Route>
        <Route path="/play">
          <Playground />
        </Route>
        <Route>
          <header class="head">
            <h1>Not found</h1>
          </header>
          <Empty title="There is nothing at this address">
            <p>
              <a href="#/">Go to the overview</a>
            </p>
          </Empty>
        </Route>
      </Switch>
    </Router>
  );
}

followAddress();
applyPrefs();
render(<App />, document.body);
