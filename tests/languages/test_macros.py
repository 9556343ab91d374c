"""C and C++ behind macros: what a macro stands before, behind or around is a unit by its own name."""

from __future__ import annotations

import pytest
from secateur.languages.syntax.fragments import parse_file
from secateur.languages.syntax.macros import mask_macros

EXPORTED = """
namespace shop {
class SHOP_EXPORT Ledger {
 public:
  SHOP_CONSTEXPR explicit Ledger(int cents) SHOP_NOEXCEPT : cents_(cents) {}
  int Round() const { return cents_; }
};
struct SHOP_API(1) Archive final : public Ledger { void Move() { Close(); } };
class Sealed SHOP_FINAL : public Ledger { void Seal() {} };
SHOP_EXPORT template <typename T, SHOP_ENABLE_IF(!is_same<T, int>::value)> class Box { T get() { return v; } };
SHOP_DEPRECATED("use Close") static inline SHOP_API int CloseAll(int all) { return all; }
HRESULT STDMETHODCALLTYPE Open(int x) { return Round(); }
class Plain { int Twice(int x) { return 2 * x; } };
}
"""

QT = """
class Cart : public QObject {
    Q_OBJECT
    Q_PROPERTY(int total READ total NOTIFY totalChanged)
public slots:
    void addItem(int cents) { emit totalChanged(cents); }
private Q_SLOTS:
    void onTimeout() { clear(); }
Q_SIGNALS:
    void totalChanged(int total);
};
class After { void f() {} };
"""

UNREAL = """
UCLASS(Blueprintable, meta = (DisplayName = "Chest"))
class GAME_API AChest : public AActor
{
	GENERATED_BODY()

public:
	UPROPERTY(EditAnywhere, Category = "Loot")
	int32 Gold = 0;

	UFUNCTION(BlueprintCallable, Category = "Loot")
	int32 Open(int32 Keys)
	{
		return Roll(Keys);
	}
};
class After { void f() {} };
"""

KERNEL = """
SYSCALL_DEFINE3(open, const char __user *, name, int, flags, umode_t, mode)
{
	return do_open(name, flags);
}

SYSCALL_DEFINE0(fork)
{
	return clone();
}
#ifdef WIDE
static int last(long a)
#else
static int last(int a)
#endif
{
	return a;
}
BOOL kept(int a) { return a; }
"""

BRANCHES = """
#ifdef __cplusplus
extern "C" {
#endif
#if WIDE
int first(long a) {
#else
int first(int a) {
#endif
  return a;
}
int second(int a) { return first(a); }
#ifdef __cplusplus
}
#endif
"""


@pytest.mark.parametrize(
    ("path", "source", "units", "calls"),
    [
        (
            "a.h",
            EXPORTED,
            (
                "shop.Ledger shop.Ledger.Ledger shop.Ledger.Round shop.Archive shop.Sealed shop.Box shop.CloseAll"
                " shop.Open shop.Plain"
            ),
            "Round",
        ),
        ("cart.hpp", QT, "Cart Cart.addItem Cart.onTimeout After", "totalChanged clear"),
        ("chest.hpp", UNREAL, "AChest AChest.Open After", "Roll"),
        ("open.c", KERNEL, "sys_open sys_fork last kept", "do_open clone"),
        ("first.c", BRANCHES, "first second", "first"),
    ],
)
def test_units_behind_macros(path: str, source: str, units: str, calls: str) -> None:
    for text in (source, source.replace("\n", "\r\n")):
        facts = parse_file(path, text.encode())
        assert set(units.split()) <= {fragment.qualname for fragment in facts.fragments}
        assert set(calls.split()) <= {call.name for call in facts.calls}


def test_a_macro_above_a_unit_belongs_to_it() -> None:
    facts = parse_file("chest.hpp", UNREAL.encode())
    method = next(fragment for fragment in facts.fragments if fragment.name == "Open")
    assert UNREAL.splitlines()[method.line_start - 1].strip().startswith("UFUNCTION")


def test_code_without_macros_stays() -> None:
    source = b"""HRESULT Open(int x);
FILE *open_log(BOOL again) { return fopen(LOG_NAME, again ? MODE_A : MODE_W); }
struct STATE_T state = {LIMIT, 0};
enum E { FIRST_ONE, LAST_ONE };
int f(void) { if (x) CHECK(g(y)); goto FAIL; FAIL: return MAX_LEN; }
"""
    assert mask_macros(source, "c") == source


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"template<a,AB(" * 10_000,
        b")AB" * 100_000,
        b"A(" * 100_000,
        b"#if x\n{\n" * 20_000 + b"#endif\n" * 20_000,
        b"/*" * 100_000,
        b"int f();\n" + b'"\\' * 100_000 + b"\n" + b"'" * 100_000,
        b"class AB_API " * 20_000,
        b"UCLASS(\nSYSCALL_DEFINE3(\n" * 10_000,
    ],
)
def test_every_byte_keeps_its_place(source: bytes) -> None:
    masked = mask_macros(source, "cpp")
    assert len(masked) == len(source)
    assert [at for at, byte in enumerate(masked) if byte == 10] == [at for at, byte in enumerate(source) if byte == 10]
