import { useCallback, useState } from 'preact/hooks';
import type { Chosen } from './actions.tsx';
import { Denials } from './denials.tsx';
import { Findings } from './findings.tsx';
import { Header } from './header.tsx';
import { KeyPanel } from './key-panel.tsx';
import { Limiters } from './limiters.tsx';
import { TopKeys } from './top-keys.tsx';
import { useLive } from './use-live.ts';

export function App() {
  const live = useLive();
  const [chosen, setChosen] = useState<Chosen | undefined>();
  const choose = useCallback((limiter: string, key: string) => {
    setChosen({ limiter, key });
    const heading = document.getElementById('key-heading');
    heading?.scrollIntoView({ block: 'nearest' });
    heading?.focus();
  }, []);
  if (live.connection === 'refused') {
    return (
      <main class="alone">
        <h1>Rate limits</h1>
        <p role="alert">You are not signed in, or may not see this page. Sign in, then load it again.</p>
      </main>
    );
  }
  return (
    <>
      <Header live={live} />
      <main>
        <Limiters live={live} />
        <div class="side">
          <KeyPanel
            limiters={live.limiters}
            chosen={chosen}
            write={live.about?.write === true}
            onChoose={setChosen}
          />
          <Denials denials={live.denials} reports={live.reports} onChoose={choose} />
          <TopKeys usage={live.usage} limiters={live.limiters} onChoose={choose} />
          {live.findings !== null && <Findings findings={live.findings} />}
        </div>
      </main>
      <footer>
        <a href="https://github.com/sluice-limits/sluice/blob/main/docs/dashboard.md">
          What this page can know
        </a>
      </footer>
    </>
  );
}
