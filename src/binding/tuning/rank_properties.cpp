// SPDX-License-Identifier: LGPL-2.1-only
/* Compact storage of the two properties that SMPI sets on each rank's actor: "instance_id", the
 * program, and "rank", its number there (src/smpi/internals/smpi_deployment.cpp). SimGrid keeps an
 * actor's properties in a table of strings, which takes 0.4 KB for these two. Here they take 8
 * bytes: the programs' names are shared by all ranks, and an actor's name ends with its number. If a caller asks for
 * all properties, it gets SimGrid's table, which is then used instead. */
#include "binding/abi/kernel_scope.hpp"
#include "binding/abi/original.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/settings/tunings.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {
namespace {

constexpr std::string_view PROGRAM_PROPERTY = "instance_id";
constexpr std::string_view NUMBER_PROPERTY  = "rank";

/** Properties of an actor; 0 if it has none, or if SimGrid holds them. */
struct KnownProperties {
  std::uint32_t program = 0; ///< index from 1
  std::uint32_t number  = 0; ///< digits at the end of the actor's name
  bool any() const { return program != 0 || number != 0; }
};

struct PropertyTable {
  ActorMap<KnownProperties> by_actor;
  std::vector<const std::string*> programs; ///< by index - 1
  std::set<std::string, std::less<>> names;
};

/** Table of all actors, leaked: ranks may end during static destruction. */
PropertyTable& property_table()
{
  static auto* const ALL = new PropertyTable;
  return *ALL;
}

/** Returns null for an actor without properties here. */
KnownProperties* known_properties(const simgrid::s4u::Actor& actor)
{
  KnownProperties* const known = property_table().by_actor.find(actor.get_pid());
  return known && known->any() ? known : nullptr;
}

/** Returns null if the property is not stored here. */
const char* known_property(const simgrid::s4u::Actor& actor, std::string_view key)
{
  const KnownProperties* known = known_properties(actor);
  if (not known)
    return nullptr;
  if (key == PROGRAM_PROPERTY && known->program != 0)
    return property_table().programs[known->program - 1]->c_str();
  if (key == NUMBER_PROPERTY && known->number != 0)
    return actor.get_cname() + actor.get_name().size() - known->number;
  return nullptr;
}

std::uint32_t number_of_program(const std::string& name)
{
  PropertyTable& table = property_table();
  // The ranks of a program are started consecutively.
  if (table.programs.empty() || *table.programs.back() != name) {
    const std::string* const kept = &*table.names.insert(name).first;
    for (std::size_t index = 0; index < table.programs.size(); ++index)
      if (table.programs[index] == kept)
        return static_cast<std::uint32_t>(index + 1);
    table.programs.push_back(kept);
  }
  return static_cast<std::uint32_t>(table.programs.size());
}

/** Stores the property here if it is one of the two. @return true if stored. */
bool keep_property(const simgrid::s4u::Actor& actor, const std::string& key, const std::string& value)
{
  const bool is_number = key == NUMBER_PROPERTY && not value.empty() && actor.get_name().ends_with(value);
  if (key != PROGRAM_PROPERTY && not is_number)
    return false;
  KnownProperties& known = property_table().by_actor[actor.get_pid()];
  if (is_number)
    known.number = static_cast<std::uint32_t>(value.size());
  else
    known.program = number_of_program(value);
  return true;
}

using SetProperty = void (*)(simgrid::s4u::Actor*, const std::string&, const std::string&);

void set_in_simgrid(simgrid::s4u::Actor& actor, const std::string& key, const std::string& value)
{
  static const auto THEIRS = original<SetProperty>(
      "_ZN7simgrid3s4u5Actor12set_propertyERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES9_");
  THEIRS(&actor, key, value);
}

/** Moves the properties stored here to SimGrid. */
void hand_over_properties(simgrid::s4u::Actor& actor)
{
  KnownProperties* const known = known_properties(actor);
  if (not known)
    return;
  const KernelScope kernel;
  for (const std::string_view key : {PROGRAM_PROPERTY, NUMBER_PROPERTY})
    if (const char* const value = known_property(actor, key))
      set_in_simgrid(actor, std::string(key), value);
  *known = {};
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

namespace simgrid::s4u {

/** Properties that an actor sets itself are left to SimGrid, whose simcall lets others run meanwhile. */
WEFT_INTERPOSED void Actor::set_property(const std::string& key, const std::string& value)
{
  if (weft::is_on(weft::TuningId::rank_properties) && this_actor::is_maestro() &&
      weft::keep_property(*this, key, value))
    return;
  weft::hand_over_properties(*this);
  weft::set_in_simgrid(*this, key, value);
}

WEFT_INTERPOSED const char* Actor::get_property(const std::string& key) const
{
  static const auto THEIRS = weft::original<const char* (*)(const Actor*, const std::string&)>(
      "_ZNK7simgrid3s4u5Actor12get_propertyERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  const char* const known = weft::known_property(*this, key);
  return known ? known : THEIRS(this, key);
}

WEFT_INTERPOSED const std::unordered_map<std::string, std::string>* Actor::get_properties() const
{
  static const auto THEIRS = weft::original<const std::unordered_map<std::string, std::string>* (*)(const Actor*)>(
      "_ZNK7simgrid3s4u5Actor14get_propertiesB5cxx11Ev");
  weft::hand_over_properties(const_cast<Actor&>(*this));
  return THEIRS(this);
}

} // namespace simgrid::s4u
