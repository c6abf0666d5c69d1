//! The contract suites: every case once, against the traits.

pub mod accounts;
pub mod acknowledging;
pub mod answering;
pub mod ask_cases;
pub mod board_cases;
pub mod brake;
pub mod bus;
pub mod cancel_table;
pub mod channels;
pub mod converging;
pub mod dm_cases;
pub mod group_cases;
pub mod ledger;
pub mod merging;
pub mod messages;
pub mod naming;
pub mod overview;
pub mod pending;
pub mod pins;
pub mod placements;
pub mod policy_cases;
pub mod posting;
pub mod race;
pub mod reading;
pub mod recipients;
pub mod rosters;
pub mod routing;
pub mod search;
pub mod streams;
pub mod telling;
pub mod tokens;
mod told;
pub mod topics;
pub mod tree_cases;
pub mod units;

/// Makes a test of every case; not for use outside this crate's macros.
#[doc(hidden)]
#[macro_export]
macro_rules! contract_cases {
    ($fixture:path; $($module:ident: [$($case:ident),* $(,)?])*) => {$(
        mod $module {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let fixture = $fixture().await;
                    $crate::contract::$module::$case(&fixture).await;
                }
            )*
        }
    )*};
}

/// Every suite that a store is held against, and the model. Takes the path of an async function that makes a fresh
/// [`crate::Fixture`], of one that makes it with the given tenants, and how many sequences a short run plays.
#[macro_export]
macro_rules! store_contracts {
    ($fixture:path, $with_tenants:path, $sequences:expr) => {
        $crate::storage_contract!($fixture);
        $crate::writer_contract!($fixture);
        $crate::hub_ports_contract!($fixture);
        $crate::events_contract!($fixture);
        $crate::asks_contract!($fixture);
        $crate::channels_contract!($fixture);
        $crate::topics_contract!($fixture);
        $crate::model_contract!($with_tenants, $sequences);
    };
}

/// Every promise of the ports `Storage`, `ReadUnit` and `UnitOfWork`. Takes the path of an async function that
/// makes a fresh [`crate::Fixture`].
#[macro_export]
macro_rules! storage_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            accounts: [
                an_account_is_found_by_id_and_by_handle,
                a_handle_is_taken_once_over_all_kinds,
                people_are_seen_by_all_and_agents_by_owner_and_channel_mates,
                a_tree_makes_channel_mates_without_member_rows,
                accounts_are_listed_by_handle,
                an_activity_replaces_the_one_before,
            ]
            rosters: [
                each_scope_is_seen_from_a_child_and_from_a_root,
                an_invisible_agent_is_clipped_out_of_every_scope,
                a_vantage_that_is_not_seen_is_not_found,
                the_built_in_sender_is_in_no_scope,
                an_entry_has_the_activity_as_cut_and_offline_without_a_session,
                rosters_participants_and_mates_equal_the_domains_rule_on_random_worlds,
            ]
            channels: [
                a_channel_is_read_back_as_it_was_stored,
                channels_are_listed_by_name_where_the_viewer_takes_part,
                channels_are_found_by_the_key_of_their_name,
                a_tree_lets_in_the_anchor_its_subtree_and_its_owner,
                participation_equals_the_domain_predicate_on_random_worlds,
                a_member_is_added_changed_and_removed,
            ]
            units: [
                a_dropped_unit_keeps_nothing,
                a_committed_unit_keeps_everything,
                a_unit_reads_its_own_writes,
                a_snapshot_does_not_move,
                another_tenant_sees_nothing,
                a_fresh_install_has_the_default_tenant,
                a_cursor_is_seeded_at_the_head_and_never_reset,
            ]
            tokens: [
                a_token_is_found_by_its_hash_with_its_tenant,
                a_hash_is_taken_once,
                a_token_is_revoked_once_and_alone,
                working_tokens_are_listed_newest_first,
                a_token_opens_a_session_that_ends_alone_and_not_after_it,
                a_sign_in_opens_one_session,
            ]
            messages: [
                pages_walk_all_messages_newest_first,
                a_snapshot_bounds_a_page_but_not_its_content,
                a_topic_narrows_a_page,
                a_page_ends_early_at_its_byte_bound_and_holds_one,
                the_last_position_grows_with_every_message,
                topics_are_listed_by_latest_activity,
                a_topic_is_found_by_the_key_of_its_name_with_its_open_asks,
                open_asks_are_listed_newest_first_each_message_once,
                open_asks_are_shown_only_where_the_viewer_takes_part,
                every_block_reads_back_as_it_was_posted,
            ]
        }
    };
}

/// Every promise of the port `Writer`, with the rules that its rows enforce.
#[macro_export]
macro_rules! writer_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            posting: [
                seqs_are_dense_in_order_and_follow_positions_under_concurrency,
                the_time_of_a_channel_never_goes_back,
                two_first_posts_by_name_make_one_topic,
                a_post_by_name_revives_a_topic_and_one_by_id_does_not,
                a_topic_of_another_channel_is_refused,
                only_participants_post_and_only_the_owner_where_the_policy_says_so,
                the_same_key_and_body_return_the_first_message_and_leave_no_gap,
                the_same_key_and_body_return_the_end_of_the_ask_too,
                the_same_key_with_another_body_is_refused,
                a_key_is_unique_over_channels_under_concurrency,
                the_keys_of_two_authors_do_not_meet,
                a_repeat_leaves_no_new_topic,
                posts_without_a_key_are_all_stored,
                a_message_id_a_seq_and_a_topic_name_are_taken_once,
                a_failed_job_leaves_the_jobs_beside_it_alone,
                a_caller_that_hangs_up_cancels_nothing,
            ]
            answering: [
                an_answer_ends_the_ask_and_posts_its_snapshot,
                an_answer_is_given_once,
                a_cancel_ends_the_ask_and_posts_nothing,
                a_cancel_is_repeatable_and_changes_nothing_then,
                only_the_author_cancels_and_strangers_find_nothing,
                the_end_of_one_ask_leaves_the_other_asks_of_its_message_open,
                a_stale_closed_ask_is_a_conflict,
                a_second_answer_message_is_a_conflict_even_without_a_close,
                a_failed_answer_message_takes_the_close_with_it,
                an_answer_lands_in_an_archived_topic,
                an_answer_is_posted_where_only_the_owner_may_post,
            ]
            race: [
                answer_against_cancel_has_one_winner,
                answer_against_answer_has_one_winner_and_one_message,
                answers_to_two_asks_of_one_message_both_survive,
                crossed_writes_to_two_channels_do_not_deadlock,
            ]
            telling: [
                a_post_tells_its_topic_then_itself_after_the_commit,
                a_repeat_tells_nothing,
                an_answer_tells_the_update_then_the_post_adjacent,
                a_cancel_tells_one_update_and_a_second_cancel_nothing,
                events_of_a_channel_come_in_the_order_of_their_seqs,
            ]
            acknowledging: [
                an_acknowledgement_moves_the_cursor_over_filled_gaps_and_own_posts,
                acknowledging_twice_or_unknown_messages_changes_nothing,
                an_agent_without_a_cursor_gets_none_by_acknowledging,
                an_acknowledgement_clears_only_its_own_owed_row,
                concurrent_acknowledgements_both_survive,
            ]
            routing: [
                only_agents_mentions_and_answers_wait_for_routing,
                routing_owes_every_target_outside_the_sweep_set_once,
                the_asker_outside_the_sweep_set_is_owed_the_answer,
                a_person_is_owed_no_answer,
            ]
        }
    };
}

/// Every promise of the hub's ports `Ledger` and `Audience`.
#[macro_export]
macro_rules! hub_ports_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            recipients: [
                members_are_the_agents_that_take_part_by_id,
                the_sweep_set_is_subscribed_home_or_mandatory,
                a_message_is_labelled_as_it_is_now,
                an_answer_is_labelled_with_who_asked,
                agents_with_open_asks_are_found_until_the_ask_ends,
                members_and_pending_agree_on_random_worlds,
            ]
            pending: [
                the_cursor_owes_what_came_after_it_in_ascending_order,
                own_messages_and_channels_without_a_cursor_owe_nothing,
                owed_rows_come_first_and_are_steered,
                unrouted_messages_wait_unless_asked_for,
                a_page_says_how_much_more_waits,
                messages_in_flight_are_left_out,
                only_the_answer_to_an_ask_can_be_fetched,
                a_removed_agent_is_owed_nothing_until_it_is_back,
            ]
            brake: [
                the_31st_agent_message_waits_until_a_person_posts_and_then_all_go_in_order,
                an_answer_in_the_topic_releases_what_waits,
                a_mention_beyond_the_brake_is_owed_and_waits,
                a_merge_keeps_the_longer_run_and_the_later_person,
                the_system_does_not_count,
                posts_beside_each_other_are_numbered_without_a_gap,
            ]
            overview: [
                agents_are_shown_with_what_waits_for_them,
                messages_that_can_be_read_are_counted_and_not_named,
            ]
            pins: [
                pins_of_the_sweep_set_come_in_board_order_whatever_was_acknowledged,
                pins_are_read_page_by_page,
            ]
            ledger: [
                a_session_is_live_while_its_node_holds_a_lease,
                a_session_is_opened_in_place_of_itself,
                an_older_state_never_replaces_a_newer_one,
                closing_twice_is_no_error,
                sessions_are_found_by_account,
                a_session_is_found_by_its_id_open_or_closed,
                a_released_node_closes_only_its_own_sessions,
                unrouted_messages_are_found_oldest_first,
                an_author_that_lives_on_another_node_is_left_to_it,
                young_unrouted_messages_are_left_alone,
            ]
            placements: [
                a_placement_is_found_by_agent_by_container_and_by_runner,
                a_container_belongs_to_one_agent,
                a_new_placement_replaces_the_one_before_and_its_failures,
                a_policy_is_set_only_for_the_runners_own_placements,
                one_of_many_claims_a_wake,
                a_live_agent_and_one_that_is_never_woken_are_not_claimed,
                a_failed_wake_backs_off_and_a_success_forgets,
                a_removed_placement_is_gone_and_removing_twice_is_no_error,
                a_placement_is_of_its_tenant,
                a_sleeping_agent_is_due_for_what_its_policy_names,
                who_is_awake_claimed_elsewhere_or_resting_is_not_due,
                what_is_not_ready_wakes_nobody,
            ]
        }
    };
}

/// Every promise of the port `EventBus`.
#[macro_export]
macro_rules! bus_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            bus: [
                seqs_start_at_one_and_a_replay_is_strictly_above,
                the_oldest_place_works_and_one_lower_underflows,
                a_place_not_reached_yet_underflows,
                an_empty_bus_starts_and_underflows_above,
                another_epoch_underflows_and_start_ignores_it,
                a_slow_subscriber_lags_alone,
                closing_ends_subscribers_without_lag,
                a_closed_bus_hands_out_ended_subscriptions,
                publishing_beside_subscribing_leaves_no_gap_and_no_duplicate,
                tenants_do_not_see_each_other_and_a_tap_sees_all,
                events_of_one_list_are_adjacent,
                waiting_can_be_dropped,
                the_access_version_rises_with_what_may_change_access_and_by_hand,
                a_commit_of_unknown_outcome_raises_the_access_version,
                commits_are_told_in_the_order_of_their_turns,
            ]
        }
    };
}

/// Every promise of the event stream to its subscribers, through the real use cases.
#[macro_export]
macro_rules! events_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            streams: [
                a_stream_begins_with_the_newest_position_even_when_nothing_happened,
                another_life_of_the_bus_asks_for_a_new_start,
                what_is_private_is_skipped_in_replay_and_live_and_the_next_visible_event_arrives,
                accounts_follow_the_directory_and_presence_follows_shared_channels,
                a_removed_member_gets_the_event_of_its_removal_and_nothing_after,
                a_removal_that_races_with_posts_is_the_last_event_of_its_channel,
                a_repeat_under_a_key_tells_nothing,
                an_answer_is_an_update_then_a_post_and_a_cancel_is_one_update,
                agents_of_a_tree_get_its_events_without_a_member_row,
                a_shared_channel_is_told_to_everyone_and_its_messages_to_its_members,
                every_event_is_seen_by_whom_the_read_shows_it_on_random_worlds,
            ]
            converging: [
                a_snapshot_and_the_events_after_it_are_the_later_snapshot,
                clients_that_start_while_random_calls_run_reach_the_snapshot,
            ]
        }
    };
}

/// The rules of asks through the real use cases: the table of cancelling and the acceptance cases of blocks and
/// asks that need storage.
#[macro_export]
macro_rules! asks_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            cancel_table: [
                the_author_withdraws_an_open_ask_and_one_update_tells_it,
                the_author_withdraws_again_without_a_write_or_an_event,
                the_author_cannot_withdraw_an_answered_ask,
                a_participant_that_is_not_the_author_is_denied_in_every_state,
                a_stranger_and_an_unknown_ask_look_the_same,
            ]
            ask_cases: [
                malformed_asks_are_refused_and_store_nothing,
                two_asks_of_one_post_get_distinct_server_ids,
                single_multi_free_and_custom_answers_are_stored_as_given,
                answers_that_do_not_fit_are_refused_and_store_nothing,
                a_skip_of_everything_closes_the_ask,
                a_second_answer_conflicts_and_changes_nothing,
                a_malformed_second_answer_conflicts_too,
                a_stranger_and_an_unknown_ask_look_the_same_to_an_answer,
                a_participant_that_is_not_the_author_may_answer,
                the_author_may_answer_its_own_ask,
                an_agent_never_answers_known_or_unknown_asks,
                concurrent_answers_to_two_asks_of_one_message_are_both_stored,
                concurrent_answers_to_one_ask_store_one_message,
                one_answer_message_carries_the_ask_as_stored,
                an_earlier_key_of_the_answerer_cannot_suppress_the_answer,
                a_participant_answers_where_only_the_owner_posts,
                a_cancelled_ask_reads_cancelled_and_adds_no_message,
                an_answer_after_a_cancel_conflicts_and_adds_no_message,
                one_of_two_asks_is_cancelled_and_the_other_answered,
                twenty_races_of_answer_and_cancel_have_one_winner_each,
                a_removed_author_cannot_cancel_and_stays_waiting,
                an_answer_tells_update_then_post_and_nothing_between,
            ]
        }
    };
}

/// The rules of groups, channels, members, boards, the tree and direct conversations through the real use cases.
#[macro_export]
macro_rules! channels_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            naming: [
                a_channel_is_told_apart_by_its_group,
                a_slash_in_a_name_of_its_own_comes_first,
                groups_of_one_name_are_told_apart_by_those_around_them,
                a_group_that_is_not_seen_tells_nothing_apart,
                an_ambiguous_name_is_told_in_short_and_in_quotes,
            ]
            group_cases: [
                a_child_is_not_wider_than_its_parent_and_a_foreign_parent_looks_like_none,
                a_shared_group_below_an_owners_group_is_hidden_from_strangers,
                groups_are_listed_by_name_to_whom_they_are_visible,
                a_group_is_meant_by_its_name_if_no_other_has_it,
                a_name_is_taken_once_in_a_group_and_a_foreign_group_looks_like_none,
                a_channel_of_a_shared_group_is_seen_by_all_and_read_by_its_members,
                a_person_joins_what_it_sees_and_nobody_else_joins,
            ]
            policy_cases: [
                a_policy_holds_together_or_is_refused,
                nobodys_channel_takes_a_policy_from_any_participant_and_an_owned_one_from_its_owner,
                a_post_by_another_than_the_owner_leaves_no_row,
                a_channel_that_becomes_mandatory_owes_its_agents_what_comes_next,
                an_agent_added_beside_the_flip_to_mandatory_is_owed,
                an_unsubscribe_from_a_mandatory_channel_refuses_the_whole_batch,
                who_comes_back_is_owed_what_was_posted_meanwhile,
                who_leaves_the_sweep_set_stays_owed_the_answers_to_its_asks,
                an_owner_leaves_after_its_agents,
                a_channel_is_renamed_by_who_takes_part_or_owns_it,
            ]
            board_cases: [
                a_board_holds_five_messages_of_its_channel_each_once,
                of_two_last_pins_at_once_one_wins,
                a_replacement_keeps_the_place_and_a_stale_one_loses,
                what_is_pinned_is_listed_in_the_boards_order,
                who_may_post_may_pin,
            ]
            tree_cases: [
                an_agent_is_moved_by_its_owner_and_the_owners_agents_within_their_tree,
                of_two_moves_that_make_a_cycle_together_one_fails,
                a_moved_agent_loses_and_gains_tree_channels_with_its_subtree,
                a_move_within_a_tree_tells_nothing_of_it,
                who_stands_in_the_tree_subscribes_without_a_member_row,
                a_move_seeds_cursors_where_it_leads_and_owes_answers_where_it_left,
                the_first_report_makes_one_channel_and_the_second_joins_it,
                a_taken_name_gets_a_number_and_a_wider_group_is_not_adopted,
                concurrent_first_reports_make_one_channel,
                a_move_changes_the_managers_channels_and_the_last_report_leaves_one_dormant,
                a_refused_agent_leaves_no_channel_of_a_manager_behind,
                crossed_moves_members_and_posts_do_not_deadlock,
            ]
            dm_cases: [
                two_people_have_one_conversation_whoever_opens_it,
                two_that_open_at_once_find_one_conversation,
                a_person_talks_to_agents_it_sees_and_to_its_own_at_home,
                agents_of_one_owner_talk_with_the_owner_listening,
                a_third_one_makes_a_named_channel_of_a_conversation,
                the_longest_handles_have_a_conversation_too,
            ]
        }
    };
}

/// Changing and merging topics, searching and read positions, through the real use cases.
#[macro_export]
macro_rules! topics_contract {
    ($fixture:path) => {
        $crate::contract_cases! { $fixture;
            topics: [
                a_free_name_and_another_spelling_change_the_row_in_place,
                any_participant_archives_and_revives,
                an_update_without_effect_is_told_to_nobody,
                strangers_and_unknown_topics_look_the_same_and_change_nothing,
                a_name_that_breaks_a_rule_is_refused,
            ]
            merging: [
                a_taken_name_joins_two_topics_and_the_survivor_sums_them_up,
                the_archive_flag_of_a_merge_applies_to_the_survivor,
                a_joined_topic_leads_to_where_its_messages_are_after_any_number_of_merges,
                a_joined_topic_leads_to_an_archived_one_too,
                where_a_topic_went_is_told_to_those_who_take_part,
                an_ask_in_a_merged_topic_is_counted_and_answered_in_the_survivor,
                an_answer_racing_a_merge_lands_in_the_survivor,
                a_cancel_racing_a_merge_loses_neither,
                posts_racing_a_merge_are_all_stored_and_counted,
                opposing_merges_leave_one_topic_with_all_messages,
                two_renames_to_one_free_name_become_one_topic,
            ]
            search: [
                texts_questions_and_own_words_of_answers_are_found_and_labels_are_not,
                the_query_language_is_that_of_web_searches,
                no_query_is_read_as_anything_but_words,
                only_where_the_caller_takes_part_is_searched,
                another_tenant_finds_nothing,
                the_best_come_first_then_the_newest_within_bound_and_limit,
                a_search_is_limited_like_a_page,
                a_search_ends_early_at_its_byte_bound_and_holds_one,
                a_blank_query_and_one_over_the_limit_are_refused,
                a_text_of_very_many_words_is_stored_and_found,
            ]
            reading: [
                a_place_moves_forward_only_and_counts_what_others_posted,
                a_place_beyond_the_newest_message_is_refused,
                only_a_person_that_takes_part_has_a_place,
                places_are_listed_for_a_channel_and_for_all,
                topics_of_several_channels_are_listed_at_once,
                a_merge_joins_the_places_of_everyone,
                a_place_is_told_to_its_person_alone_and_only_when_it_moves,
                concurrent_marks_leave_the_furthest,
                a_mark_racing_a_merge_breaks_nothing,
            ]
        }
    };
}
