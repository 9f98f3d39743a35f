// Package browsertest drives a real headless Chromium for tests of pages, over its
// debugging pipe: no other program and no network is needed.
package browsertest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long an answer may take.
const patience = 60 * time.Second

// Tab is one page in the browser. What it logs and asks the network for is kept.
type Tab struct {
	t       *testing.T
	in      io.Writer
	session string

	mu       sync.Mutex
	next     int
	waiting  map[int]chan message
	loaded   chan struct{}
	console  []string
	requests []string
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Open starts a Chromium with one empty tab; without one the test is skipped.
func Open(t *testing.T) *Tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium found: apt-get install -y --no-install-recommends chromium")
	}
	toBrowser, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	require.NoError(t, cmd.Start())
	toBrowser.Close()
	fromBrowser.Close()
	tab := &Tab{t: t, in: in, waiting: map[int]chan message{}, loaded: make(chan struct{}, 16)}
	go tab.listen(out)
	t.Cleanup(func() {
		tab.send("Browser.close", nil)
		stop := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		stop.Stop()
		in.Close()
		out.Close()
	})
	tab.attach()
	return tab
}

func (b *Tab) attach() {
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.Call(domain+".enable", nil, nil)
	}
}

// listen passes answers on and keeps what happens in the tab.
func (b *Tab) listen(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		raw, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if wait := b.waiting[m.ID]; m.ID != 0 && wait != nil {
			delete(b.waiting, m.ID)
			wait <- m
		}
		b.event(m)
		b.mu.Unlock()
	}
}

func (b *Tab) event(m message) {
	switch m.Method {
	case "Page.loadEventFired":
		b.loaded <- struct{}{}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		b.console = append(b.console, string(m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		_ = json.Unmarshal(m.Params, &p)
		b.requests = append(b.requests, p.Request.URL)
	}
}

func (b *Tab) send(method string, params any) chan message {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		m["sessionId"] = b.session
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	wait := make(chan message, 1)
	b.waiting[b.next] = wait
	_, _ = b.in.Write(append(raw, 0))
	return wait
}

// Call calls a method of the debugging protocol.
func (b *Tab) Call(method string, params, result any) {
	b.t.Helper()
	select {
	case m := <-b.send(method, params):
		require.Nil(b.t, m.Error, "%s", method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
	case <-time.After(patience):
		b.t.Fatalf("%s: no answer", method)
	}
}

// Load opens a file and waits until it is there.
func (b *Tab) Load(path string) {
	b.t.Helper()
	b.mu.Lock()
	b.console, b.requests = nil, nil
	b.mu.Unlock()
	b.Call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	select {
	case <-b.loaded:
	case <-time.After(patience):
		b.t.Fatal("the page does not load")
	}
}

// Console is what the page logged, errors included, since it was loaded.
func (b *Tab) Console() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.console...)
}

// Requests are the addresses that were asked for since the page was loaded.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.requests...)
}

// Screen sets the size of the window and light or dark.
func (b *Tab) Screen(width, height int, dark bool) {
	b.t.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Eval is what a script expression of the tester gives, not bound by the page's policy.
func (b *Tab) Eval(expression string) any {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out)
	require.Nil(b.t, out.ExceptionDetails, "%s", expression)
	return out.Result.Value
}

// Point moves the mouse over the middle of the first element that a selector finds.
func (b *Tab) Point(selector string) {
	b.t.Helper()
	at, ok := b.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`, selector)).([]any)
	require.True(b.t, ok, "%s", selector)
	b.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at[0], "y": at[1]}, nil)
}

// Press presses a key.
func (b *Tab) Press(key string, code int) {
	b.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// Shoot saves a picture of the whole page in the folder that FCLOG_SHOTS names, if it
// names one.
func (b *Tab) Shoot(name string) {
	b.t.Helper()
	b.shoot(name, true)
}

// ShootScreen saves a picture of what is on the screen.
func (b *Tab) ShootScreen(name string) {
	b.t.Helper()
	b.shoot(name, false)
}

func (b *Tab) shoot(name string, whole bool) {
	b.t.Helper()
	folder := os.Getenv("FCLOG_SHOTS")
	if folder == "" {
		return
	}
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(folder+"/"+name+".png", data, 0o644))
}
